#!/usr/bin/env python3
"""The policies of a redis-server with tally.so are in its files whatever happens while a log is rewritten: pauses,
kills, a disk that refuses files, a failover. INFO shows whether two servers have the same ones. A module that cannot be loaded
says why."""

import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.module_server import Caller, module_path, module_server  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.server import ROOT, Server  # noqa: E402
from lib.waiting import wait_for  # noqa: E402

POLICIES = {"five": ["FIXED", 5, "1h"], "a name with blanks": ["SLIDING", 5, "1h", "CALENDAR", 9, "day", "TZ", "Asia/Tokyo"]}
KEY_DELAY_US = 20_000
# A module that has another module's command, as redis-cell does.
OTHER_MODULE = """
typedef int (*get_api)(const char *, void *);
static int (*attributes)(void *, const char *, int, int);
static int (*create)(void *, const char *, int (*)(void *, void **, int), const char *, int, int, int);
static int run(void *context, void **argv, int argc) { return 0; }
int RedisModule_OnLoad(void *context, void **argv, int argc) {
  get_api get = *(get_api *)context;
  get("RedisModule_SetModuleAttribs", &attributes);
  get("RedisModule_CreateCommand", &create);
  attributes(context, "other", 1, 1);
  return create(context, "cl.throttle", run, "", 0, 0, 0);
}
"""


def set_policies(caller):
    for name, rules in POLICIES.items():
        caller.call("POLICY.SET", name, *rules)


def is_rewriting(caller):
    return caller.info("persistence", "aof_rewrite_in_progress") == "1"


def end_rewrite(caller):
    wait_for(lambda: not is_rewriting(caller))


# What happens at a rewrite that has begun, each before a kill -9.
def nothing(_, caller):
    end_rewrite(caller)


def kill_at_once(_, caller):
    pass


def kill_half_way(_, caller):
    wait_for(lambda: is_rewriting(caller))
    time.sleep(3 * KEY_DELAY_US / 1e6)


def kill_the_child(server, caller):
    children = pathlib.Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
    subprocess.run(["kill", "-9", *children], check=False)
    end_rewrite(caller)


def refuse_file(name):
    """A step at which the disk refuses a file that the rewrite needs: a directory is in its place."""
    def step(server, caller):
        end_rewrite(caller)
        blocked = server.directory / "appendonlydir" / name(server)
        blocked.mkdir()
        caller.call("BGREWRITEAOF")
        end_rewrite(caller)
        blocked.rmdir()
    step.__name__ = name.__name__
    return step


def no_new_base(server):
    bases = (server.directory / "appendonlydir").glob("*.base.*")
    number = max(int(path.name.split(".")[2]) for path in bases) + 1
    return f"appendonly.aof.{number}.base.{'aof' if server.directives['aof-use-rdb-preamble'] == 'no' else 'rdb'}"


def no_new_log(server):
    logs = (server.directory / "appendonlydir").glob("*.incr.aof")
    return f"appendonly.aof.{max(int(path.name.split('.')[2]) for path in logs) + 1}.incr.aof"


def no_new_manifest(_):
    return "temp-appendonly.aof.manifest"


STEPS = [nothing, kill_at_once, kill_half_way, kill_the_child,
         *map(refuse_file, (no_new_base, no_new_log, no_new_manifest))]


def check_rewrites(report):
    for preamble in ("no", "yes"):
        for paused in (False, True):
            for keys in (0, 10):
                for step in STEPS:
                    check_rewrite(report, preamble, paused, keys, step)


def check_rewrite(report, preamble, paused, keys, step):
    name = f"preamble {preamble}{', paused' if paused else ''}, {keys} keys, {step.__name__}"
    with module_server(appendonly="yes", appendfsync="always", aof_use_rdb_preamble=preamble,
                       rdb_key_save_delay=KEY_DELAY_US) as server:
        caller = Caller(server.port)
        set_policies(caller)
        for i in range(keys):
            caller.call("LIMIT.TAKE", f"k{i}", "POLICY", "five")
        if paused:
            caller.call("CLIENT", "PAUSE", 60_000, "WRITE")
        caller.call("BGREWRITEAOF")
        step(server, caller)
        server.kill()
        server.start()
        caller = Caller(server.port)
        kept = [sorted(caller.call("POLICY.LIST")), len(caller.call("KEYS", "*"))]
        report.equal(name, kept, [sorted(name.encode() for name in POLICIES), keys])


def check_changes(report):
    """What is changed after a base was begun is in the log that continues it."""
    with module_server(appendonly="yes", appendfsync="always", aof_use_rdb_preamble="no",
                       rdb_key_save_delay=KEY_DELAY_US) as server:
        caller = Caller(server.port)
        set_policies(caller)
        for i in range(10):
            caller.call("LIMIT.TAKE", f"k{i}", "POLICY", "five")
        caller.call("SET", "tally:policies", "a key of somebody")
        caller.call("BGREWRITEAOF")
        wait_for(lambda: is_rewriting(caller))
        caller.call("POLICY.DEL", "five")
        caller.call("POLICY.SET", "late", "DENY")
        end_rewrite(caller)
        server.kill()
        server.start()
        caller = Caller(server.port)
        report.equal("changes during a rewrite", caller.call("POLICY.LIST"), [b"a name with blanks", b"late"])
        report.equal("a key of that name is left alone", caller.call("GET", "tally:policies"), b"a key of somebody")


def check_failover(report):
    """FAILOVER pauses writes; each server begins its log anew at any step of it."""
    files = {"appendonly": "yes", "appendfsync": "always", "aof_use_rdb_preamble": "no", "repl_diskless_sync_delay": 0}
    with module_server(**files) as one, module_server(**files) as two:
        primary, replica = Caller(one.port), Caller(two.port)
        set_policies(primary)
        replica.call("REPLICAOF", "127.0.0.1", one.port)
        wait_for(lambda: replica.info("replication", "master_link_status") == "up")
        # A replica that reads nothing keeps the primary paused.
        two.process.send_signal(19)
        primary.call("SET", "x", 1)
        primary.call("FAILOVER")
        report.equal("a failover waits", primary.info("replication", "master_failover_state"), "waiting-for-sync")
        primary.call("BGREWRITEAOF")
        end_rewrite(primary)
        two.process.send_signal(18)
        report.check("the replica is the primary", wait_for(lambda: Caller(two.port).info("replication", "role") == "master"))
        wait_for(lambda: Caller(one.port).info("replication", "master_link_status") == "up")
        digests = []
        for server in (one, two):
            end_rewrite(Caller(server.port))
            server.kill()
            server.directives["replicaof"] = "no one"
            server.start()
            digests.append(Caller(server.port).info("tally", "tally_policies_digest"))
        report.equal("both have the policies", digests[1], digests[0])
        report.equal("all of them", Caller(one.port).info("tally", "tally_policies"), str(len(POLICIES)))


def check_digests(report):
    with module_server() as one, module_server() as two, Server() as tallyd:
        servers = {"one": one, "two": two, "tallyd": tallyd}

        def digests():
            seen = {}
            for name, server in servers.items():
                fields = Caller(server.port).call("INFO", "everything").decode()
                seen[name] = re.findall(r"^(?:tally_)?policies(?:_digest)?:(\w+)\r?$", fields, re.MULTILINE)
            return seen

        def same(what):
            seen = digests()
            report.check(what, len({tuple(figures) for figures in seen.values()}) == 1, seen)
            return seen["one"]

        none = same("no policies")
        for server in servers.values():
            set_policies(Caller(server.port))
        two_of_them = same("the same policies")
        report.equal("their number", two_of_them[0], "2")
        Caller(one.port).call("POLICY.SET", "five", "FIXED", 6, "1h")
        seen = digests()
        report.check("one has another rule", seen["one"][0] == seen["two"][0] and seen["one"][1] != seen["two"][1], seen)
        Caller(one.port).call("POLICY.DEL", "five")
        Caller(one.port).call("POLICY.SET", "five", "FIXED", 5, "1h")
        report.equal("the order of setting does not count", same("the same again"), two_of_them)
        for server in servers.values():
            for name in POLICIES:
                Caller(server.port).call("POLICY.DEL", name)
        report.equal("none again", same("all deleted"), none)
        release = re.search(r"project\(tallyd VERSION (\d+)\.(\d+)\.(\d+)", (ROOT / "CMakeLists.txt").read_text())
        # Valkey's own engine of scripts is a module too.
        module = next(row for row in Caller(one.port).call("MODULE", "LIST") if b"tally" in row)
        number = sum(int(part) * factor for part, factor in zip(release.groups(), (10_000, 100, 1)))
        report.equal("MODULE LIST shows the release", module[module.index(b"ver") + 1], number)
        report.equal("INFO too", Caller(one.port).info("tally", "tally_release"), ".".join(release.groups()))


def check_refusals(report):
    with Server(binary=module_server().binary, enable_module_command="yes") as server, \
            tempfile.TemporaryDirectory() as directory:
        caller = Caller(server.port)

        def refused(what, reason, *options):
            before = len(server.log())
            reply = caller.call("MODULE", "LOAD", module_path(), *options)
            said = server.log()[before:]
            report.check(what, reply.startswith("-ERR") and reason in said, f"{reply}\n{said}")

        refused("an unknown option", "the option 'zones' is not known", "zones", "x")
        refused("a directory that is not there", "'/none/there'", "zone-dir", "/none/there")
        refused("a file in the place of a directory", "'/etc/passwd'", "zone-dir", "/etc/passwd")
        source, other = pathlib.Path(directory, "other.c"), pathlib.Path(directory, "other.so")
        source.write_text(OTHER_MODULE)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", str(other), str(source)], check=True)
        report.equal("another module", caller.call("MODULE", "LOAD", str(other)), "OK")
        refused("a command of its name", "refuses the command 'cl.throttle'")
        report.equal("it goes", caller.call("MODULE", "UNLOAD", "other"), "OK")
        report.equal("then it is loaded", caller.call("MODULE", "LOAD", module_path(), "zone-dir", "/usr/share/zoneinfo"), "OK")
        refused("a second time", "loaded already")
        report.equal("and counts", caller.call("LIMIT.TAKE", "k", "FIXED", 5, "1m")[0], 1)


def main():
    report = Report()
    for check in (check_digests, check_refusals, check_rewrites, check_changes, check_failover):
        check(report)
    report.finish()


if __name__ == "__main__":
    main()
