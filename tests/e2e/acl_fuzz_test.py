#!/usr/bin/env python3
"""Users, rules and calls by chance, to this server and to redis-server: what is accepted, what each
user is told it may do, also in scripts, and what comes back from files. SEED repeats a run.

The rights of POLICY are those of SET, GET and DEL: a user that has both is told the same of a policy
here as redis-server answers it of a key of that name."""

import os
import pathlib
import random
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.comparison import REFERENCE  # noqa: E402
from lib.report import Report  # noqa: E402
from lib.resp import ReplyError  # noqa: E402
from lib.server import Server  # noqa: E402

SEED = int(os.environ.get("SEED", random.randrange(2**32)))
USERS = int(os.environ.get("USERS", "1500"))
BYTES = [b"a", b"b", b"*", b"?", b"[", b"]", b'"', b"'", b"\\", b"(", b")", b"#", b"~", b"%", b"&", b"+", b"-",
         b"|", b" ", b"\t", b"\n", b"\r", b"\x0b", b"\x0c", b"\0", b"\x01", b"\x7f", b"\xff", "é".encode()]
NAMES = [b"", b"a", b"b", b"ab", b"aa", b"ba", b"c"]
GLOBS = [b"*", b"a*", b"b*", b"a", b"ab", b"?", b"[ab]", b"*b", b"\\a", b""]
COMMANDS = [b"get", b"set", b"del"]
BLANK = re.compile(rb"[\s\0\x0b]")
POLICY = {b"get": b"policy.get", b"set": b"policy.set", b"del": b"policy.del"}


class Pair:
    """A connection to each server."""

    def __init__(self, servers):
        self.clients = [server.client() for server in servers]

    def ask(self, *words, theirs=None):
        return [ask(client, call) for client, call in zip(self.clients, (words, theirs or words))]

    def close(self):
        for client in self.clients:
            client.close()


def ask(client, words):
    try:
        return client.call(*words)
    except ReplyError as error:
        return f"-{error}"


def some_text(dice, most=4):
    return b"".join(dice.choice(BYTES) for _ in range(dice.randrange(most + 1)))


def some_pattern(dice):
    return dice.choice([b"~", b"%R~", b"%W~", b"%RW~", b"%w~"]) + dice.choice(GLOBS)


def some_right(dice):
    """A rule of a user or of a selector, that both servers understand."""
    command = dice.choice(COMMANDS)
    return dice.choice([some_pattern(dice), some_pattern(dice), some_pattern(dice), b"allkeys", b"resetkeys",
                        b"+" + command, b"+" + command, b"-" + command, b"+@all", b"nocommands",
                        b"&" + dice.choice(GLOBS), b"resetchannels", b"+publish", b"+copy", b"+rename",
                        b"+mget", b"+eval", b"+@read", b"-@write"])


def some_rule(dice):
    if dice.random() < 0.2:
        words = [some_right(dice) for _ in range(dice.randrange(1, 5))]
        return b"(" + dice.choice([b" ", b"  "]).join(words) + b")"
    if dice.random() < 0.1:
        return dice.choice([b"clearselectors", b"reset", b"on", b"off", b"nopass", b"resetpass", b">pw", b"<pw",
                            b"skip-sanitize-payload", b"+", b"~", b"%~a", b"%RX~a", b"(", b")", b"()", b"#12", b"!"])
    return some_right(dice)


def with_policies(rule):
    """The same rule, which also gives or takes the command of POLICY."""
    for command, policy in POLICY.items():
        for sign in (b"+", b"-"):
            rule = rule.replace(sign + command, sign + command + b" " + sign + policy)
    return rule


def rules_here(rules):
    """As rules_there, for this server: a rule outside parentheses is one word."""
    words = []
    for rule in map(with_policies, rules):
        words += [rule] if rule.startswith(b"(") else rule.split(b" ")
    return words


def rights_of(reply):
    """GETUSER without the commands, which are told in other words."""
    if not isinstance(reply, list):
        return reply
    fields = dict(zip(reply[::2], reply[1::2]))
    fields.pop(b"commands", None)
    if b"selectors" in fields:
        fields[b"selectors"] = [rights_of(selector) for selector in fields[b"selectors"]]
    return fields


def unbalanced(rule):
    """A selector whose quotes are not closed; see the differences."""
    return rule.startswith(b"(") and (b'"' in rule or b"'" in rule)


def check_names(report, pair, dice):
    """Any bytes as a name and as a pattern."""
    wrong = []
    for _ in range(USERS):
        name = some_text(dice)
        rule = dice.choice([b"~", b"%R~", b"&", b">", b"+select|"]) + some_text(dice)
        if rule.startswith(b"+") and BLANK.search(rule):
            continue  # refused here, see the differences
        ours, theirs = pair.ask("ACL", "SETUSER", name, "on", rule)
        if ours == theirs:
            ours, theirs = (rights_of(reply) for reply in pair.ask("ACL", "GETUSER", name))
        if ours != theirs:
            wrong.append(f"{name} {rule}\nredis-server: {theirs}\nthis server:  {ours}")
    users = pair.ask("ACL", "USERS")
    report.check(f"{USERS} names and patterns of any bytes: the same answers", not wrong, "\n".join(wrong[:5]))
    report.equal("the same users in the same order", *users)


def some_call(dice):
    """(here, there): the same in both, but for policies."""
    key, other = dice.choice(NAMES), dice.choice(NAMES)
    keys = [dice.choice(NAMES) for _ in range(dice.randrange(1, 3))]
    both = dice.choice([["GET", key], ["SET", key, "1"], ["SET", key, "1", "GET"], ["DEL", *keys], ["MGET", *keys],
                        ["COPY", key, other], ["RENAME", key, other], ["PUBLISH", key, "x"],
                        ["EVAL", "return 1", len(keys), *keys]])
    policy = dice.choice([(["POLICY.GET", key], ["GET", key]), (["POLICY.DEL", key], ["DEL", key]),
                          (["POLICY.SET", key, "DENY"], ["SET", key, "1"])])
    return policy if dice.random() < 0.4 else (both, both)


def plain(reply):
    text = reply.decode() if isinstance(reply, bytes) else str(reply)
    return text.replace("'policy.", "'").replace("policy.", "")


def check_rights(report, pair, dice):
    """Dry runs, and the same calls asked for by a script of that user."""
    wrong = {"dry runs": [], "acl_check_cmd": []}
    for _ in range(USERS // 10):
        pair.ask("ACL", "DELUSER", "ann")
        pair.ask("ACL", "SETUSER", "ann", "on", ">pw")
        told = []
        for _ in range(dice.randrange(1, 12)):
            rule = some_rule(dice)
            ours, theirs = pair.ask("ACL", "SETUSER", "ann", *rules_here([rule]),
                                    theirs=("ACL", "SETUSER", "ann", rule))
            told.append(rule)
            # The error names the rule, which is another here.
            if str(ours).split("': ")[-1] != str(theirs).split("': ")[-1] and not unbalanced(rule):
                wrong["dry runs"].append(f"{told}\nredis-server: {theirs}\nthis server:  {ours}")
        check_calls(pair, dice, told, wrong)
    for what, cases in wrong.items():
        report.check(f"{what}: users by chance are told the same", not cases, "\n".join(cases[:3]))


def check_calls(pair, dice, told, wrong):
    pair.ask("ACL", "SETUSER", "ann", "on", "nopass")
    calls = [some_call(dice) for _ in range(40)]
    for here, there in calls:
        ours, theirs = pair.ask("ACL", "DRYRUN", "ann", *here, theirs=("ACL", "DRYRUN", "ann", *there))
        if plain(ours) != plain(theirs):
            wrong["dry runs"].append(f"{told}\n{here}\nredis-server: {theirs}\nthis server:  {ours}")
    pair.ask("ACL", "SETUSER", "ann", "+eval")
    pair.ask("AUTH", "ann", "x")
    script = "return {tostring(redis.acl_check_cmd(unpack(ARGV)))}"
    for here, there in calls:
        ours, theirs = pair.ask("EVAL", script, 0, *here, theirs=("EVAL", script, 0, *there))
        if plain(ours) != plain(theirs):
            wrong["acl_check_cmd"].append(f"{told}\n{here}\nredis-server: {theirs}\nthis server:  {ours}")
    pair.ask("AUTH", "default", "x")


CHECKED = """redis.acl_check_cmd()
redis.acl_check_cmd({})
redis.acl_check_cmd('get', true)
redis.acl_check_cmd(12)
redis.acl_check_cmd('')
redis.acl_check_cmd('nosuch', 'k')
redis.acl_check_cmd('get')
redis.acl_check_cmd('GET', 'x', 'k')
redis.acl_check_cmd('set', 'k')
redis.acl_check_cmd('set', 'x')
redis.acl_check_cmd('mset', 'k', 1, 'x')
redis.acl_check_cmd('del')
redis.acl_check_cmd('del', 'k', 'x')
redis.acl_check_cmd('rename', 'x')
redis.acl_check_cmd('copy', 'x')
redis.acl_check_cmd('smove', 'k', 'x')
redis.acl_check_cmd('smove', 'x', 'k')
redis.acl_check_cmd('lmove', 'x')
redis.acl_check_cmd('lmove', 'k', 'x', 'left')
redis.acl_check_cmd('zrangestore', 'k', 'x')
redis.acl_check_cmd('bitop', 'and', 'x')
redis.acl_check_cmd('bitop', 'and', 'k', 'x')
redis.acl_check_cmd('sunionstore', 'x')
redis.acl_check_cmd('sunionstore', 'k', 'x')
redis.acl_check_cmd('zunion', 1)
redis.acl_check_cmd('zunion', 1, 'x')
redis.acl_check_cmd('zunion', '1x', 'x')
redis.acl_check_cmd('zunionstore', 'x')
redis.acl_check_cmd('zunionstore', 'x', 0, 'k')
redis.acl_check_cmd('eval')
redis.acl_check_cmd('eval', 'x', 1, 'x')
redis.acl_check_cmd('sort', 'k', 'store', 'x')
redis.acl_check_cmd('sort', 'k', 'store')
redis.acl_check_cmd('object', 'encoding', 'x')
redis.acl_check_cmd('object', 'freq', 'k', 'x')
redis.acl_check_cmd('config')
redis.acl_check_cmd('config', 'get', 'x')
redis.acl_check_cmd('config', 'set')
redis.acl_check_cmd('config', 'nosuch')
redis.acl_check_cmd('publish', 'ch', 'x')
redis.acl_check_cmd('publish', 'other', 'x')
redis.acl_check_cmd('flushall')
redis.acl_check_cmd('multi')
select(2, pcall(redis.acl_check_cmd))
select(2, pcall(redis.acl_check_cmd, 'nosuch'))"""


def check_scripts(report, pair):
    pair.ask("ACL", "SETUSER", "bob", "on", "nopass", "~k*", "&ch*", "+@all", "-flushall", "-config|set")
    pair.ask("AUTH", "bob", "x")
    wrong = []
    for call in CHECKED.splitlines():
        ours, theirs = pair.ask("EVAL", f"return {{tostring({call})}}", 0)
        if ours != theirs:
            wrong.append(f"{call}\nredis-server: {theirs}\nthis server:  {ours}")
    report.check(f"{len(CHECKED.splitlines())} calls of redis.acl_check_cmd", not wrong, "\n".join(wrong))
    pair.ask("AUTH", "default", "x")
    report.equal("who only asked is not in ACL LOG", pair.ask("ACL", "LOG")[0], [])


def check_files(report, dice):
    """Users of any name come back after a restart; each server reads the other's file."""
    ours, theirs = Server(aclfile="users.acl"), Server(REFERENCE, aclfile="users.acl")
    for server in (ours, theirs):
        (server.directory / "users.acl").write_text("")
    with ours, theirs:
        pair = Pair((ours, theirs))
        for _ in range(200):
            # redis-server does not read "%RW~* ~a" back, which it writes as "~* ~a".
            patterns = [some_pattern(dice) + b"x" for _ in range(dice.randrange(3))]
            pair.ask("ACL", "SETUSER", some_text(dice), *patterns)
        report.equal("ACL SAVE", pair.ask("ACL", "SAVE"), ["OK", "OK"])
        lists = pair.ask("ACL", "LIST")
        report.equal("the same users", *lists)
        files = [(server.directory / "users.acl").read_bytes() for server in (ours, theirs)]
        report.equal("the same files", sorted(files[0].splitlines()), sorted(files[1].splitlines()))
        for server, file in zip((ours, theirs), reversed(files)):
            (server.directory / "users.acl").write_bytes(file)
        report.equal("each reads the other's", pair.ask("ACL", "LOAD"), ["OK", "OK"])
        report.equal("the same users then", pair.ask("ACL", "LIST"), lists)
        pair.close()


def check_configuration(report, dice):
    with Server(config="") as server:
        client = server.client()
        for _ in range(600):
            ask(client, ["ACL", "SETUSER", some_text(dice), b"~" + some_text(dice),
                         b'("~' + some_text(dice).replace(b'"', b"") + b'")'])
        ask(client, ["ACL", "SETUSER", b"", "reset", "on", ">pw", "~x"])
        users = client.call("ACL", "LIST")
        report.equal("CONFIG REWRITE", client.call("CONFIG", "REWRITE"), "OK")
        client.close()
        server.stop()
        server.start()
        with server.client() as client:
            report.equal(f"{len(users)} users after a restart", client.call("ACL", "LIST"), users)
            report.equal("the user without a name logs in", ask(client, ["AUTH", "", "pw"]), "OK")


def main():
    report = Report()
    report.note(f"SEED={SEED}")
    dice = random.Random(SEED)
    with Server() as server, Server(REFERENCE) as reference:
        pair = Pair((server, reference))
        check_names(report, pair, dice)
        check_rights(report, pair, dice)
        check_scripts(report, pair)
        pair.close()
    check_files(report, dice)
    check_configuration(report, dice)
    report.finish()


main()
