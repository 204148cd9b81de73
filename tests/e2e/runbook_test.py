#!/usr/bin/env python3
"""Every block of conf/operations.md does what it says: the lines are run as they stand, with the paths of the
package in a folder of the test, and with a systemctl that starts and ends one server."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.report import Report  # noqa: E402
from lib.resp import ReplyError, RespClient  # noqa: E402
from lib.server import ROOT, free_port, tallyd  # noqa: E402

PAGE = ROOT / "conf/operations.md"
BLOCK = re.compile(r"^## (?P<section>[^\n]*)$|^```sh\n(?P<lines>.*?)^```$", re.DOTALL | re.MULTILINE)
RUN_SECONDS = 120

# In place of systemd's: one server, in the background of the test.
SYSTEMCTL = """#!/bin/sh
pid=$(cat {root}/pid 2>/dev/null)
wait_end() {{ while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done; }}
start() {{
  setsid {tallyd} {root}/etc/tallyd/tallyd.conf --port {port} --dir {root}/var/lib/tallyd --daemonize no \\
    >>{root}/journal 2>&1 </dev/null &
  echo $! >{root}/pid
  for i in $(seq 600); do
    redis-cli PING 2>&1 | grep -qE 'PONG|NOAUTH' && exit 0
    kill -0 "$(cat {root}/pid)" 2>/dev/null || exit 1
    sleep 0.1
  done
  exit 1
}}
case "$1" in
  start) start ;;
  stop) kill -TERM "$pid"; wait_end ;;
  restart) kill -TERM "$pid"; wait_end; start ;;
  kill) kill -"${{2#--signal=}}" "$pid"; [ "$2" = --signal=KILL ] && wait_end; exit 0 ;;
esac
"""


class Machine:
    """A folder with the package's paths, and a PATH in front of the real one."""

    def __init__(self, folder):
        self.root = folder
        self.port = free_port()
        for path in ("etc/tallyd/tls", "var/lib/tallyd", "var/log/tallyd", "var/backups/tallyd", "bin"):
            (folder / path).mkdir(parents=True)
        configuration = (ROOT / "conf/tallyd.conf").read_text().replace("\nhttp-port 8379\n", "\n")
        (folder / "etc/tallyd/tallyd.conf").write_text(
            configuration + f"port {self.port}\nappendfsync always\nlogfile {folder}/var/log/tallyd/tallyd.log\n")
        self.tool("systemctl", SYSTEMCTL.format(root=folder, tallyd=tallyd(), port=self.port))
        self.tool("redis-cli", f'#!/bin/sh\nexec /usr/bin/redis-cli -p {self.port} "$@"\n')
        self.tool("tallyd", f'#!/bin/sh\nexec {tallyd()} "$@"\n')
        self.tool("chown", "#!/bin/sh\nexit 0\n")  # there is no user tallyd here
        self.environment = dict(os.environ, PATH=f"{folder}/bin:{os.environ['PATH']}")

    def tool(self, name, text):
        path = self.root / "bin" / name
        path.write_text(text)
        path.chmod(0o755)

    def run(self, lines):
        here = re.sub(r"(?<![\w.])/(etc|var)/", rf"{self.root}/\1/", lines)
        return subprocess.run(["bash", "-euo", "pipefail", "-c", here], capture_output=True, text=True,
                              env=self.environment, timeout=RUN_SECONDS, check=False)

    def client(self):
        return RespClient(self.port)

    def end(self):
        try:
            os.kill(int((self.root / "pid").read_text()), signal.SIGKILL)
        except (OSError, ValueError):
            pass


def make_certificates(folder):
    """A certificate that signs itself is enough for what is read here."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-keyout", folder / "server.key", "-out", folder / "server.crt"], check=True, capture_output=True)
    shutil.copy(folder / "server.crt", folder / "ca.crt")


def before(section, machine):
    if section == "Restore":
        with machine.client() as client:
            client.call("SET", "after the backup", "1")
    if section == "TLS":
        make_certificates(machine.root / "etc/tallyd/tls")


def after(section, machine, report, done):
    said = done.stdout
    if section == "Is it well?":
        report.check("a server that is well says so", "+PONG" in said and "loading:0" in said
                     and "aof_last_write_status:ok" in said, said)
        with machine.client() as client:
            client.pipeline(("SET", f"key:{i}", i) for i in range(1000))
    if section == "Back up":
        report.check("the backup is whole", "result: whole" in said, said)
    if section == "Restore":
        with machine.client() as client:
            report.equal("what the backup has is there, and nothing later",
                         (client.call("DBSIZE"), client.call("GET", "after the backup")), (1000, None))
    if section == "Log rotation":
        deadline = time.monotonic() + 10
        while not (machine.root / "var/log/tallyd/tallyd.log").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        report.check("there is a new log file", (machine.root / "var/log/tallyd/tallyd.log").exists())
    if section == "When memory is short":
        configuration = (machine.root / "etc/tallyd/tallyd.conf").read_text()
        report.check("the limit is in the configuration", "maxmemory 1" in configuration, configuration[-500:])
    if section == "TLS":
        report.check("the certificates are accepted", said.split() == ["OK", "OK"], said)
    if section == "Users":
        check_users(machine, report)


def check_users(machine, report):
    with machine.client() as client:
        client.call("AUTH", "shop", "a long random password")
        report.equal("the application may take a limit", client.call("LIMIT.TAKE", "shop:1", "FIXED", "1", "10m")[0], 1)
        report.check("and nothing else", refused(client, "FLUSHALL") and refused(client, "LIMIT.TAKE", "other", "ALLOW"))
    with machine.client() as client:
        client.call("AUTH", "dashboard", "another password")
        report.check("the dashboard reads only", client.call("GET", "key:1") == b"1" and refused(client, "SET", "a", "b"))


def refused(client, *command):
    try:
        client.call(*command)
    except ReplyError as error:
        return "NOPERM" in str(error)
    return False


def main():
    report = Report()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="runbook-"))
    machine = Machine(folder)
    section, ran = "", 0
    try:
        report.equal("the server starts", machine.run("systemctl start").returncode, 0)
        for match in BLOCK.finditer(PAGE.read_text()):
            if match["section"]:
                section = match["section"]
                continue
            before(section, machine)
            done = machine.run(match["lines"])
            ran += 1
            report.equal(f"{section}: {match['lines'].splitlines()[0]}", (done.returncode, done.stderr.strip()), (0, ""))
            after(section, machine, report, done)
        report.check("there were blocks to run", ran > 10, ran)
        alerts = re.findall(r"- alert: (\w+)", (ROOT / "conf/alerts.yml").read_text())
        report.equal("the page knows every alert", [name for name in alerts if name not in PAGE.read_text()], [])
    finally:
        machine.end()
        shutil.rmtree(folder)
    report.finish()


main()
