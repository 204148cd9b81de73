<?php
// Laravel looks for views where it answers in plain text too.

return ['paths' => [], 'compiled' => storage_path()];
