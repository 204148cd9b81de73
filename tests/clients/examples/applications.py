"""How each example is installed, built and started: the file of conf/examples as it is, and around it
the smallest application of its framework. What is downloaded or built is in build/e2e/clients/examples."""

import http.client
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

from lib.packages import build_go, install_maven, install_node, install_npm, install_pip
from lib.server import ROOT, build_directory, die_with_parent, free_port

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = ROOT / "conf/examples"
BUILD = build_directory("clients/examples")
LIMIT = 7
WORKERS = 4
START_SECONDS = 120  # A JVM on a busy machine.
ANSWER_SECONDS = 10


def node(name):
    runtime = install_node(HERE.parent / "node/runtime", build_directory("clients/node") / "runtime")
    install_npm(HERE / "node", BUILD / "node")
    return ([str(runtime / "node"), str(EXAMPLES / f"{name}.js")],
            {"NODE_PATH": str(BUILD / "node/node_modules")})


def python():
    install_pip(HERE / "python/requirements.txt", BUILD / "python")
    return str(BUILD / "python/bin/python")


def fastapi():
    return ([python(), "-m", "uvicorn", "fastapi_site:app", "--port", "{port}"],
            {"PYTHONPATH": f"{EXAMPLES}:{HERE / 'python'}"})


def django():
    return ([python(), "-m", "django", "runserver", "--noreload", "127.0.0.1:{port}"],
            {"PYTHONPATH": f"{EXAMPLES}:{HERE / 'python'}", "DJANGO_SETTINGS_MODULE": "django_site"})


def net_http():
    source = BUILD / "go"
    source.mkdir(exist_ok=True)
    for file in (EXAMPLES / "net_http.go", *(HERE / "go").iterdir()):
        shutil.copy(file, source)
    build_go(source, "-o", "example", ".")
    return [str(source / "example")], {"TALLYD": "127.0.0.1:{tallyd}"}


def spring():
    packages, classes = BUILD / "spring", BUILD / "classes"
    install_maven(HERE / "spring/pom.xml", packages)
    sources = [*(EXAMPLES / "spring").glob("*.java"), *(HERE / "spring").glob("*.java")]
    subprocess.run(["javac", "-parameters", "-d", classes, "-cp", f"{packages / 'jars'}/*", *sources], check=True)
    return (["java", "-XX:TieredStopAtLevel=1", "-Xmx256m", "-cp",
             f"{classes}:{EXAMPLES / 'spring'}:{packages / 'jars'}/*", "com.example.Application"],
            {"SPRING_DATA_REDIS_URL": "redis://127.0.0.1:{tallyd}", "TALLYD_LIMIT": "{limit}",
             "TALLYD_FAILOPEN": "{fail_open}", "SERVER_ADDRESS": "127.0.0.1", "SERVER_PORT": "{port}"})


def laravel():
    application = BUILD / "laravel"
    shutil.rmtree(application, ignore_errors=True)
    shutil.copytree(HERE / "laravel/config", application / "config")
    shutil.copy(EXAMPLES / "laravel/database.php", application / "config")
    for folder in ("app/Http/Middleware", "bootstrap/cache", "storage/logs"):
        (application / folder).mkdir(parents=True)
    shutil.copy(EXAMPLES / "laravel/RateLimit.php", application / "app/Http/Middleware")
    return (["php", "-d", "variables_order=EGPCS", "-S", "127.0.0.1:{port}", str(HERE / "laravel/index.php")],
            {"APPLICATION": str(application), "TALLYD_PORT": "{tallyd}", "PHP_CLI_SERVER_WORKERS": str(WORKERS)})


# What gives the command and the environment of each, with {port}, {tallyd}, {limit} and {fail_open} to fill in.
APPLICATIONS = {
    "Express": lambda: node("express"), "Fastify": lambda: node("fastify"), "FastAPI": fastapi,
    "Django": django, "Laravel": laravel, "net/http": net_http, "Spring": spring,
}


class Application:
    """A context manager: it runs, asks the tallyd of that port, and all of it is gone afterwards."""

    def __init__(self, command, environment, tallyd_port, fail_open, limit=LIMIT):
        self.port = free_port()
        places = {"port": self.port, "tallyd": tallyd_port, "fail_open": str(fail_open).lower(), "limit": str(limit)}
        common = {"PORT": "{port}", "TALLYD": "redis://127.0.0.1:{tallyd}", "LIMIT": "{limit}",
                  "FAIL_OPEN": "{fail_open}"}
        filled = {name: value.format(**places) for name, value in (common | environment).items()}
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen([word.format(**places) for word in command], stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log, env=dict(os.environ, **filled),
                                        preexec_fn=die_with_parent, start_new_session=True)

    def __enter__(self):
        """Waits for the first answer that has a decision of tallyd."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            if "RateLimit" in self.get()[1]:
                return self
            time.sleep(0.1)
        self.__exit__()
        raise RuntimeError(f"does not serve:\n{self.printed()}")

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def printed(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")[-3000:]

    def get(self):
        """(status, headers, seconds); the status is None if there is no answer."""
        begin = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_SECONDS)
        try:
            connection.request("GET", "/")
            response = connection.getresponse()
            response.read()
            return response.status, response.headers, time.monotonic() - begin
        except (OSError, http.client.HTTPException):
            return None, {}, time.monotonic() - begin
        finally:
            connection.close()
