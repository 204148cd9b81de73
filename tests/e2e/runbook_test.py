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
BLOCK = re.compile(r"^## (?P<section>[^\n]*)$|^```(?P<kind>\w*)\n(?P<lines>.*?)^```$", re.DOTALL | re.MULTILINE)
ERROR = re.compile(r"^(?:ERR|NOPERM|NOAUTH|WRONGPASS|MISCONF|LOADING|OOM)\b.*", re.MULTILINE)
KEYS = 1000
RUN_SECONDS = 120
DAY_SECONDS = 86_400

# In place of systemd's: one server, in the background of the test.
SYSTEMCTL = """#!/bin/sh
pid=$(cat {root}/pid 2>/dev/null)
wait_end() {{ while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done; }}
start() {{
  setsid {root}/usr/bin/tallyd {root}/etc/tallyd/tallyd.conf --port {port} --dir {root}/var/lib/tallyd --daemonize no \\
    >>{root}/journal 2>&1 </dev/null &
  echo $! >{root}/pid
  for i in $(seq 600); do
    redis-cli PING 2>&1 | grep -qE 'PONG|NOAUTH' && exit 0
    kill -0 "$(cat {root}/pid)" 2>/dev/null || exit 1
    sleep 0.1
  done
  exit 1
}}
redis() {{
  case "$1" in
    start)
      redis-server --port {port} --dir {root}/var/lib/redis --daemonize yes --pidfile {root}/redis.pid >/dev/null
      for i in $(seq 600); do redis-cli PING 2>&1 | grep -q PONG && exit 0; sleep 0.1; done; exit 1 ;;
    stop)
      pid=$(cat {root}/redis.pid)
      kill -TERM "$pid"; wait_end; exit 0 ;;
  esac
}}
case "$2" in redis-server) redis "$1" ;; esac
case "$1" in
  start) start ;;
  stop) kill -TERM "$pid" 2>/dev/null; wait_end; exit 0 ;;
  restart) kill -TERM "$pid"; wait_end; start ;;
  kill) kill -"${{2#--signal=}}" "$pid"; [ "$2" = --signal=KILL ] && wait_end; exit 0 ;;
esac
"""

# In place of apt-get: dpkg into the folder, and what the package's scripts do with the service.
APT_GET = """#!/bin/sh -e
options=
for argument; do
  case "$argument" in Dpkg::Options::=*) options="$options ${{argument#*=}}" ;; esac
done
dpkg --root={root} --force-not-root --force-bad-path $options -i "$argument" </dev/null >>{root}/dpkg.log 2>&1
if kill -0 "$(cat {root}/pid 2>/dev/null)" 2>/dev/null; then systemctl restart; else systemctl start; fi
"""

# The program under a name of its own, which says when it is called. One that refuses the configuration, too.
PROGRAM = """#!/bin/sh
echo "{name} $*" >>{root}/calls
case "{name} $*" in *refuses*--check-config*) echo "it refuses" >&2; exit 1 ;; esac
exec {tallyd} "$@"
"""


class Machine:
    """A folder with the package's paths, and a PATH in front of the real one."""

    def __init__(self, folder):
        self.root = folder
        self.port = free_port()
        for path in ("etc/tallyd/tls", "var/lib/tallyd", "var/lib/redis", "var/log/tallyd", "bin", "here", "var/lib/dpkg/updates",
                     "var/lib/dpkg/info"):
            (folder / path).mkdir(parents=True)
        (folder / "var/lib/dpkg/status").touch()
        configuration = (ROOT / "conf/tallyd.conf").read_text().replace("\nhttp-port 8379\n", "\n")
        self.configuration = folder / "etc/tallyd/tallyd.conf"
        self.packaged = (
            configuration + f"port {self.port}\nappendfsync always\nlogfile {folder}/var/log/tallyd/tallyd.log\n"
            f"pidfile {folder}/var/lib/tallyd/tallyd.pid\n")
        self.tool("systemctl", SYSTEMCTL.format(root=folder, port=self.port))
        self.tool("apt-get", APT_GET.format(root=folder))
        self.tool("redis-cli", f'#!/bin/sh\nexec /usr/bin/redis-cli -p {self.port} "$@"\n')
        self.tool("chown", "#!/bin/sh\nexit 0\n")  # there is no user tallyd here
        self.environment = dict(os.environ, PATH=f"{folder}/bin:{folder}/usr/bin:{os.environ['PATH']}")

    def tool(self, name, text):
        self.put_program(self.root / "bin" / name, text)

    def put_program(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def program(self, name, path):
        self.put_program(path, PROGRAM.format(name=name, root=self.root, tallyd=tallyd()))

    def put_package(self, name):
        """The only package in the folder in which the blocks are run. Each has a configuration of its own."""
        for old in (self.root / "here").glob("*.deb"):
            old.unlink()
        tree = self.root / "tree"
        self.program(name, tree / "usr/bin/tallyd")
        for path in ("DEBIAN", "etc/tallyd"):
            (tree / path).mkdir(parents=True, exist_ok=True)
        (tree / "etc/tallyd/tallyd.conf").write_text(f"# as packed with {name}\n{self.packaged}")
        (tree / "DEBIAN/conffiles").write_text("/etc/tallyd/tallyd.conf\n")
        (tree / "DEBIAN/control").write_text("Package: tallyd\nVersion: 1\nArchitecture: all\nMaintainer: nobody\n"
                                             "Description: stand-in\n")
        subprocess.run(["dpkg-deb", "-b", tree, self.root / f"here/tallyd_{name}.deb"], check=True, capture_output=True)

    def calls(self):
        return (self.root / "calls").read_text().splitlines()

    def run(self, lines):
        """Each line has to succeed."""
        return self.paste("set -euo pipefail\n" + lines)

    def paste(self, lines):
        """As into a shell of an operator, which goes on after a line that fails."""
        here = re.sub(r"(?<![\w.])/(etc|var|usr/bin)/", rf"{self.root}/\1/", lines)
        return subprocess.run(["bash", "-c", here], capture_output=True, text=True, check=False,
                              env=self.environment, timeout=RUN_SECONDS, cwd=self.root / "here")

    def client(self):
        return RespClient(self.port)

    def serves(self):
        try:
            with self.client() as client:
                return client.call("PING") == "PONG"
        except OSError:
            return False

    def backups(self):
        place = self.root / "var/backups/tallyd"
        return sorted(place.iterdir()) if place.exists() else []

    def end(self):
        try:
            os.kill(int((self.root / "pid").read_text()), signal.SIGKILL)
        except (OSError, ValueError):
            pass


def read_page(report):
    """The blocks of each section, in their order."""
    text = PAGE.read_text()
    blocks, section = {}, ""
    for match in BLOCK.finditer(text):
        if match["section"]:
            section = match["section"]
            continue
        report.equal(f"{section}: a block is for the shell", match["kind"], "sh")
        blocks.setdefault(section, []).append(match["lines"])
    report.equal("no block is without a fence", re.findall(r"^ {4}\S.*", BLOCK.sub("", text), re.MULTILINE), [])
    return blocks


def run_block(machine, report, what, lines):
    done = machine.run(lines)
    report.equal(f"{what}: {lines.splitlines()[0]}", (done.returncode, done.stderr.strip()), (0, ""))
    report.equal(f"{what}: no command is refused", ERROR.findall(done.stdout), [])
    return done.stdout


def install(machine, report, blocks):
    machine.put_package("first")
    run_block(machine, report, "Install", *blocks["Install"])
    report.check("the server runs", machine.serves())


def is_it_well(machine, report, blocks):
    said = run_block(machine, report, "Is it well?", *blocks["Is it well?"])
    report.check("a server that is well says so", "+PONG" in said and "loading:0" in said
                 and "aof_last_write_status:ok" in said, said)
    with machine.client() as client:
        client.pipeline(("SET", f"key:{i}", i) for i in range(KEYS))


def back_up(machine, report, blocks):
    backup, age = blocks["Back up"]
    report.check("that there was never a backup is seen", machine.paste(age).returncode == 1)
    said = run_block(machine, report, "Back up", backup)
    report.check("the backup is whole", "result: whole" in said, said)
    [made] = machine.backups()
    report.check("with the configuration", (made / "etc/tallyd.conf").exists())
    report.equal("for its owner only", [oct(path.stat().st_mode & 0o777) for path in (made.parent, made)], ["0o700"] * 2)
    said = run_block(machine, report, "Back up", age)
    report.equal("it is new", said.strip(), str(made))
    (made.parent / "2000-01-01-000000.unfinished").mkdir()
    past = time.time() - 2 * DAY_SECONDS
    os.utime(made, (past, past))
    report.check("that the last backup is old is seen", machine.paste(age).returncode == 1)
    failed = machine.paste(backup.replace("/var/lib/tallyd", "/var/lib/nothing"))
    report.check("a backup that fails says so", failed.returncode == 1 and "the backup failed" in failed.stderr, failed)
    report.equal("and leaves nothing", len(machine.backups()), 2)
    past -= 31 * DAY_SECONDS
    os.utime(made, (past, past))
    time.sleep(1)  # a name of its own
    run_block(machine, report, "Back up", backup)
    report.check("what is older than a month is gone", made not in machine.backups())


def move_in(machine, report, blocks):
    there, back = blocks["Move in from Redis"]
    machine.run("systemctl stop tallyd\nsystemctl start redis-server")
    with machine.client() as client:
        client.pipeline(("SET", f"of redis:{i}", i) for i in range(KEYS + 1))
    said = run_block(machine, report, "Move in from Redis", there)
    report.equal("both have as many keys", [line for line in said.splitlines() if line == str(KEYS + 1)],
                 [str(KEYS + 1)] * 2)
    with machine.client() as client:
        report.equal("they are those of Redis", client.call("GET", "of redis:7"), b"7")
        report.check("and tallyd has them", "tallyd_version" in client.call("INFO", "server").decode())
    run_block(machine, report, "Move in from Redis, and back", back)
    with machine.client() as client:
        report.equal("Redis has its keys again", client.call("DBSIZE"), KEYS + 1)
    machine.run("systemctl stop redis-server\nrm -r /var/lib/tallyd/appendonlydir\n"
                "mv /var/lib/tallyd/before-* /var/lib/tallyd/appendonlydir\nsystemctl start tallyd")


def take_over(machine, report, blocks):
    """A Redis beside it, which clients write to."""
    follow, switch = blocks["Take over from a live Redis"]
    redis_port = free_port()
    redis = subprocess.Popen(["redis-server", "--port", str(redis_port), "--save", ""], cwd=machine.root / "var/lib/redis",
                             stdout=subprocess.DEVNULL)
    machine.run("systemctl stop tallyd\ncp -r /var/lib/tallyd/appendonlydir /var/lib/tallyd/aside\nsystemctl start tallyd")
    try:
        machine.run(f"until redis-cli -p {redis_port} PING; do sleep 0.1; done")
        with RespClient(redis_port) as client:
            client.pipeline(("SET", f"of redis:{i}", i) for i in range(KEYS + 1))
        machine.environment |= {"TALLYD_PORT": str(machine.port), "REDIS_PORT": str(redis_port)}
        said = run_block(machine, report, "Take over", follow)
        report.equal("both have as many keys", said.splitlines()[-2:], [str(KEYS + 1)] * 2)
        with RespClient(redis_port) as client:
            client.call("SET", "at last", 1)
        said = run_block(machine, report, "Take over, the switch", switch)
        report.check("it is the primary", "master" in said.splitlines(), said)
        with machine.client() as client, RespClient(redis_port) as old:
            report.equal("with all that was written", client.call("MGET", "at last", "of redis:7"), [b"1", b"7"])
            client.call("SET", "after", 1)
            try:
                refused = old.call("SET", "lost", 1)
            except ReplyError as error:
                refused = str(error)
            report.check("and Redis takes no write any more", refused.startswith("NOREPLICAS"), refused)
    finally:
        redis.kill()
        redis.wait()
    machine.run("systemctl stop tallyd\nrm -r /var/lib/tallyd/appendonlydir\n"
                "mv /var/lib/tallyd/aside /var/lib/tallyd/appendonlydir\nsystemctl start tallyd")


def move_back(machine, report, blocks):
    """A Redis starts with what the server has saved."""
    [lines] = blocks["Move back to Redis"]
    run_block(machine, report, "Move back to Redis", lines)
    machine.run("until redis-cli INFO persistence | grep -q rdb_bgsave_in_progress:0; do sleep 0.1; done")
    saved = machine.root / "var/lib/tallyd/dump.rdb"
    moved = machine.root / "var/lib/redis/moved"
    moved.mkdir()
    saved.rename(moved / "dump.rdb")
    port = free_port()
    redis = subprocess.Popen(["redis-server", "--port", str(port), "--dir", moved], stdout=subprocess.DEVNULL)
    try:
        machine.run(f"until redis-cli -p {port} PING; do sleep 0.1; done")
        with RespClient(port) as client, machine.client() as here:
            report.equal("Redis starts with all keys", client.call("DBSIZE"), here.call("DBSIZE"))
            key = client.call("RANDOMKEY")
            report.equal("and their values", client.call("GET", key), here.call("GET", key))
            here.call("CONFIG", "SET", "rdb-format", "tallyd")
    finally:
        redis.kill()
        redis.wait()
    shutil.rmtree(moved)


def restore(machine, report, blocks):
    [lines] = blocks["Restore"]
    replaced = machine.root / "var/lib/tallyd/replaced"
    for time_number in range(3):
        with machine.client() as client:
            client.call("SET", "after the backup", "1")
        time.sleep(1)  # the name of what is replaced has seconds
        run_block(machine, report, f"Restore, time {time_number + 1}", lines)
        with machine.client() as client:
            report.equal("what the backup has is there, and nothing later",
                         (client.call("DBSIZE"), client.call("GET", "after the backup")), (KEYS, None))
        report.equal("and what was replaced too",
                     [(path / "appendonly.aof.manifest").exists() for path in replaced.iterdir()],
                     [True] * (time_number + 1))
    machine.run("systemctl stop tallyd")
    shutil.rmtree(machine.root / "var/lib/tallyd/appendonlydir")
    run_block(machine, report, "Restore of a new machine", lines)
    with machine.client() as client:
        report.equal("a new machine has it too", client.call("DBSIZE"), KEYS)
    time.sleep(1)
    machine.tool("cp", "#!/bin/sh\nexit 1\n")
    failed = machine.paste(lines)
    (machine.root / "bin/cp").unlink()
    report.check("nothing goes on after a failure", failed.returncode == 1 and not machine.serves(), failed)
    report.equal("and nothing is started", machine.calls()[-1].split()[1:2], ["--check-aof"])
    report.equal("and nothing is lost", len(list(replaced.iterdir())), 4)
    run_block(machine, report, "Restore after a failure", lines)
    damage(machine.backups()[-1])
    failed = machine.paste(lines)
    report.check("a damaged backup is not restored", failed.returncode == 1 and machine.serves(), failed)
    shutil.rmtree(machine.backups()[-1])
    time.sleep(1)
    run_block(machine, report, "Back up", blocks["Back up"][0])


def damage(directory):
    """A byte in the middle of the longest log."""
    log = max((directory / "appendonlydir").glob("*.incr.aof"), key=lambda path: path.stat().st_size)
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 1
    log.write_bytes(data)


def upgrade(machine, report, blocks):
    package, archive = blocks["Upgrade"]
    machine.put_package("second")
    with machine.client() as client:
        client.call("CONFIG", "SET", "slowlog-max-len", "77")
        client.call("CONFIG", "REWRITE")
    said = run_block(machine, report, "Upgrade", package)
    report.check("it says which version runs", "tallyd_version:" in said, said)
    seen = [call for call in machine.calls() if call.startswith("second")]
    report.check("the new program has read the configuration before it was started",
                 "--check-config" in seen[0] and any("--daemonize no" in call for call in seen[1:]), seen)
    with machine.client() as client:
        report.equal("with the data of the old one", client.call("DBSIZE"), KEYS)
        report.equal("and what CONFIG REWRITE wrote", client.call("CONFIG", "GET", "slowlog-max-len")[1], b"77")
    beside = machine.configuration.with_name("tallyd.conf.dpkg-dist")
    report.check("the package's own configuration is beside it", "packed with second" in beside.read_text())
    machine.program("archive", machine.root / "here/tallyd")
    run_block(machine, report, "Upgrade", archive)
    report.check("that of the archive runs", "archive" in machine.calls()[-1], machine.calls()[-3:])
    machine.put_package("refuses")
    machine.program("refuses", machine.root / "here/tallyd")
    for lines in (package, archive):
        failed = machine.paste(lines)
        report.check("one that refuses the configuration is not installed", failed.returncode == 1 and
                     "archive" in (machine.root / "usr/bin/tallyd").read_text() and machine.serves(), failed)


def log_rotation(machine, report, blocks):
    for number, lines in enumerate(blocks["Log rotation"], 1):
        run_block(machine, report, "Log rotation", lines)
        path = machine.root / "var/log/tallyd/tallyd.log"
        deadline = time.monotonic() + 10
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        with machine.client() as client:
            client.call("BGREWRITEAOF")
        while "rewrite" not in (text := path.read_text().lower() if path.exists() else "") and time.monotonic() < deadline:
            time.sleep(0.05)
        report.check("the log goes on in a new file", "rewrite" in text, text)
        kept = path.with_name(f"tallyd.log.{number}").read_text()
        report.check("and the old one is kept", kept != "", kept)


def memory(machine, report, blocks):
    run_block(machine, report, "When memory is short", *blocks["When memory is short"])
    with machine.client() as client:
        limit = int(client.call("CONFIG", "GET", "maxmemory")[1])
    of_machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    report.check("the limit is half of the machine", abs(limit - of_machine / 2) < 0.01 * of_machine, limit)
    report.check("and in the configuration",
                 f"\nmaxmemory {limit}" in machine.configuration.read_text(), machine.configuration.read_text()[-500:])


def tls(machine, report, blocks):
    make_certificates(machine.root / "etc/tallyd/tls")
    said = run_block(machine, report, "TLS", *blocks["TLS"])
    report.equal("the certificates are accepted", said.split(), ["OK", "OK"])


def make_certificates(folder):
    """A certificate that signs itself is enough for what is read here."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-keyout", folder / "server.key", "-out", folder / "server.crt"], check=True, capture_output=True)
    shutil.copy(folder / "server.crt", folder / "ca.crt")


# What client libraries say when they connect, and what would disturb others.
HANDSHAKE = [("HELLO", "2", "SETNAME", "x"), ("CLIENT", "SETNAME", "x"), ("CLIENT", "SETINFO", "lib-name", "x"), ("CLIENT", "ID"),
             ("COMMAND",), ("COMMAND", "DOCS", "GET"), ("SELECT", "0"), ("PING",), ("ECHO", "x")]
DISTURBING = [("CLIENT", "LIST"), ("CLIENT", "KILL", "TYPE", "normal"), ("CLIENT", "PAUSE", "1"), ("CLIENT", "UNPAUSE"),
              ("CLIENT", "NO-EVICT", "on"), ("CLIENT", "NO-TOUCH", "on"), ("FLUSHALL",), ("KEYS", "*"), ("SHUTDOWN",),
              ("CONFIG", "GET", "*"), ("ACL", "LIST"), ("DEBUG", "SLEEP", "0"), ("SAVE",), ("MONITOR",), ("SCRIPT", "FLUSH"),
              ("SLOWLOG", "GET"), ("BGREWRITEAOF",), ("SWAPDB", "0", "1"), ("DEL", "shop:1")]


def users(machine, report, blocks):
    said = run_block(machine, report, "Users", *blocks["Users"])
    report.check("the users are there", said.splitlines().count("OK") == 3, said)
    with machine.client() as client:
        unknown = [command for command in HANDSHAKE + DISTURBING
                   if refused(client, "", "ACL", "DRYRUN", "default", *command)]
        report.equal("the server knows what is tried", unknown, [])
    for name, password in (("shop", "a long random password"), ("dashboard", "another password")):
        with machine.client() as client:
            client.call("AUTH", name, password)
            report.equal(f"{name}: a library can connect",
                         [command for command in HANDSHAKE if refused(client, "NOPERM", *command)], [])
            report.equal(f"{name}: what disturbs others is refused",
                         [command for command in DISTURBING if not refused(client, "NOPERM", *command)], [])
    with machine.client() as client:
        client.call("AUTH", "shop", "a long random password")
        report.equal("the application may take a limit", client.call("LIMIT.TAKE", "shop:1", "FIXED", "1", "10m")[0], 1)
        report.check("on its own keys", refused(client, "NOPERM", "LIMIT.TAKE", "other", "ALLOW"))
    with machine.client() as client:
        client.call("AUTH", "dashboard", "another password")
        report.check("the dashboard reads only",
                     client.call("GET", "key:1") == b"1" and refused(client, "NOPERM", "SET", "a", "b"))


def refused(client, why, *command):
    try:
        client.call(*command)
    except ReplyError as error:
        return why in str(error)
    return False


def drills(machine, report, blocks):
    killed, torn, damaged, password, password_in_file = blocks["Drills"]
    run_block(machine, report, "Drills", killed)
    said = run_block(machine, report, "Drills", torn)
    report.check("the torn end is named", "torn tail" in said, said)
    said = run_block(machine, report, "Drills", damaged)
    report.check("what is whole starts", machine.serves() and said == "", said)
    machine.run("systemctl stop tallyd")
    with open(max((machine.root / "var/lib/tallyd/appendonlydir").glob("*.incr.aof")), "ab") as log:
        log.write(b"*2\r\n$4\r\nIN")
    said = run_block(machine, report, "Drills", damaged)
    report.check("what is torn starts", machine.serves() and said == "", said)
    check_damage(machine, report, damaged, *blocks["Restore"])
    check_lost_passwords(machine, report, password, password_in_file)


def check_damage(machine, report, drill, restoring):
    for way in ("the truncate of the report", "the backup"):
        with machine.client() as client:
            client.pipeline(("SET", f"more:{i}", "x" * 100) for i in range(KEYS))
        machine.run("systemctl stop tallyd")
        damage(machine.root / "var/lib/tallyd")
        said = run_block(machine, report, "Drills", drill)
        report.check("what is damaged is said, and does not start", "restore the backup" in said and
                     not machine.serves() and machine.run("systemctl start tallyd").returncode == 1, said)
        if way == "the backup":
            run_block(machine, report, "Restore", restoring)
        else:
            checked = machine.run("tallyd --check-aof /var/lib/tallyd || true").stdout
            machine.run(re.search(r"truncate -s \d+ \S+", checked).group(0) + " && systemctl start tallyd")
        report.check(f"{way} helps", machine.serves())


def check_lost_passwords(machine, report, drill, drill_with_file):
    """From requirepass, from a line of the user in the configuration, and from one in a file of users."""
    with machine.client() as client:
        client.call("CONFIG", "SET", "requirepass", "forgotten")
        client.call("CONFIG", "REWRITE")
    check_new_password(machine, report, "after requirepass", drill)
    with machine.client() as client:
        client.call("AUTH", "a-new-password")
        client.call("ACL", "SETUSER", "default", "resetpass", ">forgotten")
        client.call("CONFIG", "REWRITE")
    report.check("the password is in a line of the user", "\nuser default" in machine.configuration.read_text())
    check_new_password(machine, report, "after ACL SETUSER", drill)
    machine.run("systemctl stop tallyd")
    users_file = machine.root / "etc/tallyd/users.acl"
    lines = machine.configuration.read_text().splitlines()
    others = [line for line in lines if line.startswith("user ")]
    users_file.write_text("\n".join(["user default on >forgotten ~* &* +@all", *others]))
    kept = [line for line in lines if not line.startswith(("user ", "requirepass "))] + [f"aclfile {users_file}"]
    machine.configuration.write_text("\n".join(kept))
    report.equal("the server starts with a file of users", machine.run("systemctl start tallyd").returncode, 0)
    check_new_password(machine, report, "with aclfile", drill_with_file)
    report.check("the other users stay", "user shop" in users_file.read_text())


def check_new_password(machine, report, when, drill):
    said = run_block(machine, report, f"Drills, {when}", drill)
    report.equal(f"{when}: the new password is good", said.strip(), "PONG")
    for password in ("", "forgotten"):
        with machine.client() as client:
            report.check(f"{when}: and no other is", refused(client, "", *(("AUTH", password) if password else ("PING",))))


def check_alerts(report):
    """Each alert is in a row that says what to look at, and no row is of an alert that there is not."""
    rules = re.findall(r"- alert: (\w+)", (ROOT / "conf/alerts.yml").read_text())
    rows = re.findall(r"^\| (Tallyd[\w, ]*) \| (.*) \|$", PAGE.read_text(), re.MULTILINE)
    named = [name for names, action in rows for name in names.split(", ") if action.strip()]
    report.equal("the page has what to do for every alert", sorted(named), sorted(rules))


SECTIONS = {"Install": install, "Is it well?": is_it_well, "Back up": back_up, "Restore": restore, "Upgrade": upgrade,
            "Move in from Redis": move_in, "Take over from a live Redis": take_over, "Move back to Redis": move_back,
            "Log rotation": log_rotation, "When memory is short": memory, "TLS": tls, "Users": users, "Drills": drills}


def main():
    report = Report()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="runbook-"))
    machine = Machine(folder)
    try:
        blocks = read_page(report)
        report.equal("each section with a block is run", list(blocks), list(SECTIONS))
        for run_section in SECTIONS.values():
            run_section(machine, report, blocks)
        check_alerts(report)
    finally:
        machine.end()
        shutil.rmtree(folder)
    report.finish()


main()
