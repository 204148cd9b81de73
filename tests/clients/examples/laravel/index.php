<?php
// One page of a Laravel application behind the middleware. The application is in $APPLICATION.

error_reporting(E_ALL & ~E_DEPRECATED);  // Debian's Laravel is older than its PHP.
require_once 'Illuminate/autoload.php';

use App\Http\Middleware\RateLimit;
use Illuminate\Contracts\Debug\ExceptionHandler;
use Illuminate\Foundation\Application;
use Illuminate\Foundation\Http\Kernel;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Route;

$directory = getenv('APPLICATION');
require_once "$directory/app/Http/Middleware/RateLimit.php";

$app = new Application($directory);
$app->singleton(ExceptionHandler::class, Illuminate\Foundation\Exceptions\Handler::class);
$app->booted(function () {
    Route::get('/', fn () => 'hello')->middleware(RateLimit::class.':'.getenv('LIMIT'));
});
$app->make(Kernel::class)->handle(Request::capture())->send();
