#!/usr/bin/env python3
"""ACL as redis-server has it: the same conversations of several users with both, reply by reply; what
both know of each command; and the users of aclfile through restarts."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.report import Report  # noqa: E402
from lib.resp import ReplyError, RespClient  # noqa: E402
from lib.server import Server  # noqa: E402

REFERENCE = "redis-server"

# One conversation each: lines of "who: command", in which the operator is op.
CONVERSATIONS = {
    "commands": """
        op: ACL SETUSER ann on >pw ~* +get +@hash -hset +config|get
        ann: AUTH ann pw
        ann: GET k
        ann: SET k 1
        ann: HSET h a 1
        ann: HGET h a
        ann: CONFIG GET maxclients-nosuch
        ann: CONFIG SET maxclients 1
        ann: ACL WHOAMI
        op: ACL SETUSER ann +@all -@dangerous +keys
        ann: SET k 1
        ann: KEYS *
        ann: FLUSHALL
        ann: ACL WHOAMI
        ann: CLIENT KILL 1.2.3.4:5
        ann: CLIENT GETNAME
        op: ACL SETUSER ann -client +client|id
        ann: CLIENT GETNAME
        op: ACL SETUSER ann -@all +select|0 +select|1
        ann: SELECT 1
        ann: SELECT 2
        ann: NOSUCH
        ann: GET
        op: ACL SETUSER ann nocommands
        ann: PING
        ann: QUIT""",
    "keys": """
        op: ACL SETUSER ann on >pw +@all ~k* %R~in* %W~out* %RW~both*
        ann: AUTH ann pw
        ann: MGET k1 in1
        ann: MGET k1 other
        ann: SET in1 x
        ann: SET out1 x
        ann: SET out1 x GET
        ann: GET out1
        ann: STRLEN out1
        ann: EXISTS out1 in1
        ann: EXISTS other
        ann: TYPE out1
        ann: INCR out2
        ann: INCR both1
        ann: APPEND out3 x
        ann: GETDEL out3
        ann: LPUSH out4 a
        ann: LPOP out4
        ann: LLEN out4
        ann: LMOVE k2 out4 LEFT LEFT
        ann: LMOVE out4 k2 LEFT LEFT
        ann: COPY in1 out1
        ann: COPY out1 in1
        ann: SUNIONSTORE out1 in1 in2
        ann: SUNIONSTORE out1 out2
        ann: ZUNIONSTORE out1 1 in1
        ann: ZUNIONSTORE out1 2 in1 other
        ann: RENAME k1 in1
        ann: RENAME k9 out1
        ann: ZUNION 2 in1 elsewhere
        ann: LMPOP 1 in1 LEFT
        ann: SINTERCARD 2 in1 other
        ann: EXPIRE out1 100
        ann: TTL out1
        ann: DEL out1
        ann: DEL in1
        ann: OBJECT ENCODING out1
        ann: MEMORY USAGE other
        ann: WATCH other
        ann: WATCH out1
        ann: DBSIZE
        ann: SCAN 0 MATCH nosuch
        ann: BITOP AND out9 in1 in2
        ann: PFMERGE out9 in1
        ann: PFMERGE both9 in1
        ann: ZADD out9 1 a
        ann: ZPOPMIN out9
        ann: SETRANGE out8 0 a""",
    "channels": """
        op: ACL SETUSER ann on >pw +@all allkeys &ch* &exact
        op: ACL SETUSER lis on >pw +@all allchannels
        ann: AUTH ann pw
        ann: PUBLISH ch1 x
        ann: PUBLISH other x
        ann: PSUBSCRIBE ch1*
        ann: PSUBSCRIBE ch*
        ann: PUNSUBSCRIBE
        ann: SUBSCRIBE ch1 other
        ann: SUBSCRIBE exact
        ann: UNSUBSCRIBE other
        op: ACL SETUSER ann &more*
        ann: PING
        op: ACL SETUSER ann resetchannels &exactly
        ann: PING
        lis: AUTH lis pw
        lis: SUBSCRIBE any
        op: ACL SETUSER lis resetchannels &any
        lis: PING
        op: ACL SETUSER lis resetchannels
        lis: PING""",
    "transactions": """
        op: ACL SETUSER ann on >pw +@all ~k* &ch*
        ann: AUTH ann pw
        ann: MULTI
        ann: GET other
        ann: EXEC
        ann: MULTI
        ann: SET k1 1
        ann: GET k1
        ann: PUBLISH ch1 x
        ann: DEL k1
        op: ACL SETUSER ann -set resetkeys ~other* resetchannels
        ann: EXEC
        op: ACL SETUSER ann -exec
        ann: MULTI
        ann: EXEC""",
    "scripts": """
        op: ACL SETUSER ann on >pw +@all -set ~k* &ch*
        ann: AUTH ann pw
        ann: EVAL "return redis.call('get', KEYS[1])" 1 k1
        ann: EVAL "return redis.call('get', KEYS[1])" 1 other
        ann: EVAL "return redis.call('get', 'other')" 0
        ann: EVAL "return redis.pcall('get', 'other')" 0
        ann: EVAL "return redis.call('set', 'k1', 1)" 0
        ann: EVAL "return redis.call('publish', 'other', 1)" 0
        ann: EVAL "return redis.call('publish', 'ch1', 1)" 0
        ann: EVAL "return redis.call('incr', 'k2')" 0
        ann: EVAL "return redis.pcall('acl', 'whoami')['err']" 0
        op: ACL SETUSER ann -eval
        ann: EVAL "return 1" 0
        ann: MULTI
        ann: EVAL_RO "return redis.call('get', 'other')" 0
        ann: EXEC""",
    "selectors": """
        op: ACL SETUSER ann on >pw +get ~a* (+set ~b*) (%R~c* +mget)
        op: ACL GETUSER ann
        ann: AUTH ann pw
        ann: GET a1
        ann: SET a1 1
        ann: SET b1 1
        ann: GET b1
        ann: MGET c1
        ann: GET c1
        ann: DEL c1
        op: ACL DRYRUN ann set a1 1
        op: ACL DRYRUN ann mget c1 d1
        op: ACL SETUSER ann ( ~d* +set )
        ann: SET d1 1
        op: ACL SETUSER ann clearselectors
        ann: SET d1 1
        op: ACL GETUSER ann
        op: ACL SETUSER ann (~e*)(
        op: ACL SETUSER ann (on)
        op: ACL SETUSER ann (+nosuch)
        op: ACL SETUSER ann (+@all ~* &*)
        ann: SET d1 1""",
    "rules": """
        op: ACL SETUSER bob
        op: ACL GETUSER bob
        op: ACL SETUSER bob foo
        op: ACL SETUSER bob +nosuch
        op: ACL SETUSER bob -nosuch
        op: ACL SETUSER bob +@nosuch
        op: ACL SETUSER bob +config|nosuch
        op: ACL SETUSER bob +nosuch|sub
        op: ACL SETUSER bob +config|get|x
        op: ACL SETUSER bob +select|
        op: ACL SETUSER bob -select|0
        op: ACL SETUSER bob +
        op: ACL SETUSER bob <nopw
        op: ACL SETUSER bob #zz
        op: ACL SETUSER bob !zz
        op: ACL SETUSER bob %Z~a
        op: ACL SETUSER bob %RR~a
        op: ACL SETUSER bob ~* ~a
        op: ACL SETUSER bob &* &a
        op: ACL SETUSER bob "~a b"
        op: ACL SETUSER bob "&a b"
        op: ACL SETUSER "a b"
        op: ACL GETUSER bob
        op: ACL SETUSER bob ON NOPASS ALLKEYS +@ALL AllChannels
        op: ACL GETUSER bob
        op: ACL SETUSER bob >one >two
        op: ACL GETUSER bob
        op: ACL SETUSER bob <one resetkeys ~a ~b %R~b %W~c %R~c ~a resetchannels &x &y
        op: ACL GETUSER bob
        op: ACL SETUSER bob -@all +get
        op: ACL LIST
        op: ACL SETUSER bob reset
        op: ACL GETUSER bob
        op: ACL SETUSER bob -@all +@hash
        op: ACL GETUSER bob
        op: ACL SETUSER bob skip-sanitize-payload
        op: ACL SETUSER bob sanitize-payload
        op: ACL USERS
        op: ACL GETUSER nosuch
        op: ACL DELUSER bob nosuch
        op: ACL DELUSER default
        op: ACL DELUSER nosuch
        op: ACL CAT nosuch
        op: ACL NOSUCH
        op: ACL LOG x
        op: ACL LOG 1 2
        op: ACL GENPASS 0
        op: ACL GENPASS x
        op: ACL LOAD
        op: ACL SAVE
        op: ACL HELP""",
    "passwords": """
        op: ACL SETUSER ann on >pw +@all
        ann: AUTH ann wrong
        ann: AUTH nosuch pw
        ann: AUTH ann pw
        ann: ACL WHOAMI
        ann: AUTH pw
        op: ACL SETUSER ann off
        ann: ACL WHOAMI
        ann: AUTH ann pw
        op: ACL SETUSER ann on nopass
        ann: AUTH ann anything
        bob: HELLO 2 AUTH ann anything
        bob: ACL WHOAMI
        bob: RESET
        bob: ACL WHOAMI
        cid: HELLO 2 AUTH nosuch x
        op: ACL DELUSER ann
        ann: PING
        op: CONFIG SET requirepass secret
        dan: PING
        dan: HELLO 2
        dan: AUTH wrong
        dan: AUTH secret
        dan: ACL WHOAMI
        eve: AUTH default secret
        op: CONFIG GET requirepass
        op: ACL SETUSER default >other
        fay: AUTH other
        fay: AUTH secret
        op: ACL SETUSER default <secret
        fay: AUTH secret
        op: CONFIG SET requirepass ""
        gus: PING
        op: ACL GETUSER default
        op: ACL SETUSER default -@all +acl +ping ~k*
        gus: GET k
        gus: PING
        op: ACL SETUSER default off
        hal: PING
        op: ACL SETUSER default on
        hal: PING
        hal: AUTH x""",
    "dry run": """
        op: ACL SETUSER ann on +@all -flushall ~k* &ch*
        op: ACL DRYRUN ann get k1
        op: ACL DRYRUN ann get other
        op: ACL DRYRUN ann FLUSHALL
        op: ACL DRYRUN ann publish other x
        op: ACL DRYRUN ann nosuch
        op: ACL DRYRUN ann get
        op: ACL DRYRUN ann config nosuch
        op: ACL DRYRUN ann config get x
        op: ACL DRYRUN nosuch get k
        op: ACL DRYRUN ann""",
    "log": """
        op: ACL SETUSER ann on >pw +@all -set ~k* &ch*
        ann: AUTH ann pw
        ann: SET k 1
        ann: SET k 1
        ann: GET other
        ann: PUBLISH other x
        ann: MULTI
        ann: GET other
        ann: DISCARD
        ann: EVAL "return redis.pcall('set', 'k', 1)['err']" 0
        ann: AUTH ann wrong
        ann: HELLO 2 AUTH nosuch wrong
        ann: SET k 1
        op: ACL LOG
        op: ACL LOG 2
        op: ACL LOG 0
        op: ACL LOG RESET
        op: ACL LOG""",
}

WORD = re.compile(r'"([^"]*)"|(\S+)')


class Talk:
    """The users' connections to one server."""

    def __init__(self, server):
        self.server = server
        self.clients = {}

    def say(self, who, words):
        if who not in self.clients:
            self.clients[who] = RespClient(self.server.port)
        client = self.clients[who]
        try:
            reply = client.call(*words)
        except ReplyError as error:
            return f"-{error}"
        except (ConnectionError, ValueError, OSError):
            return "closed"
        if words[:2] == ["ACL", "LOG"]:
            return plain_log(reply)
        return reply[:6] if words[0] == "HELLO" else reply  # The client's number follows.

    def close(self):
        for client in self.clients.values():
            client.close()


def plain_log(reply):
    """Entries without their age and without the client, which differ."""
    return [entry[:10] for entry in reply] if isinstance(reply, list) else reply


def check_conversations(report, server, reference):
    for name, text in CONVERSATIONS.items():
        talks = [Talk(server), Talk(reference)]
        wrong = []
        lines = [line.strip() for line in text.strip().splitlines()]
        for line in lines:
            who, command = line.split(": ", 1)
            words = [quoted or bare for quoted, bare in WORD.findall(command)]
            ours, theirs = (talk.say(who, words) for talk in talks)
            if ours != theirs:
                wrong.append(f"{line}\nredis-server: {theirs}\nthis server:  {ours}")
        report.check(f"{name}: {len(lines)} replies as redis-server's", not wrong, "\n".join(wrong))
        for talk, of in zip(talks, (server, reference)):
            talk.close()
            forget_users(of)


def forget_users(server):
    with server.client() as client:
        users = [user for user in client.call("ACL", "USERS") if user != b"default"]
        if users:
            client.call("ACL", "DELUSER", *users)
        client.call("ACL", "SETUSER", "default", "reset", "on", "nopass", "allkeys", "allchannels",
                    "+@all")
        client.call("ACL", "LOG", "RESET")
        client.call("FLUSHALL")


def rows_of(server):
    """Name -> (arity, keys' places, categories, keys' uses) of every command and subcommand."""
    found = {}

    def add(row):
        name, arity, _, first, last, step, categories, _, specs, subcommands = row[:10]
        uses = [sorted(dict(zip(spec[::2], spec[1::2]))[b"flags"]) for spec in specs]
        found[name.decode()] = (arity, (first, last, step), sorted(categories), uses)
        for subcommand in subcommands:
            add(subcommand)

    with server.client() as client:
        for row in client.call("COMMAND"):
            add(row)
    return found


def check_rows(report, server, reference):
    ours, theirs = rows_of(server), rows_of(reference)
    common = sorted(ours.keys() & theirs.keys())
    for name in common:
        # Counted keys have no specification here.
        *rest, uses = theirs[name]
        theirs[name] = (*rest, uses[:len(ours[name][-1])])
    wrong = [f"{name}\nredis-server: {theirs[name]}\nthis server:  {ours[name]}"
             for name in common if ours[name] != theirs[name]]
    report.check(f"{len(common)} commands: categories, and what becomes of their keys", not wrong,
                 "\n".join(wrong))
    with server.client() as ours, reference.client() as theirs:
        calls = ["LMPOP 2 a b LEFT", "ZMPOP 1 a MIN", "SINTERCARD 2 a b", "ZDIFF 2 a b",
                 "ZINTER 2 a b", "ZINTERCARD 1 a", "ZUNION 2 a b", "ZDIFFSTORE a 1 b",
                 "ZINTERSTORE a 2 b c", "ZUNIONSTORE a 1 b WEIGHTS 2", "EVAL x 2 a b c", "EVAL_RO x 1 a",
                 "EVALSHA x 1 a", "EVALSHA_RO x 1 a", "SET a 1", "SET a 1 NX GET"]
        for call in calls:
            words = ["COMMAND", "GETKEYSANDFLAGS", *call.split()]
            report.equal(f"keys of {call}", ours.call(*words), theirs.call(*words))
        categories = theirs.call("ACL", "CAT")
        report.equal("ACL CAT begins with redis-server's categories",
                     ours.call("ACL", "CAT")[:len(categories)], categories)


FILE = """user default on nopass ~* &* +@all

user ann on >pw ~k* resetchannels -@all +get (~x* +set)
"""
BROKEN = "user ann on +nosuch\nann\nuser bob ~* ~a\nuser cid (~x\nuser dan on\nuser dan on\n"


def story_of_file(binary):
    """What a server makes of its aclfile, from start to end, to be compared with another's."""
    told = []
    server = Server(binary, aclfile="users.acl")
    path = server.directory / "users.acl"
    path.write_text(FILE)
    with server:
        talk = Talk(server)

        def say(who, command):
            told.append(f"{who}: {command} -> {talk.say(who, command.split())}")

        say("op", "ACL LIST")
        say("ann", "AUTH ann pw")
        say("op", "ACL SETUSER eve on nopass +ping")
        say("eve", "AUTH eve x")
        say("op", "ACL SAVE")
        told.append(path.read_text())
        path.write_text(BROKEN)
        say("op", "ACL LOAD")
        say("ann", "GET k1")
        say("op", "ACL USERS")
        path.write_text(FILE)
        say("op", "ACL LOAD")
        say("op", "ACL USERS")
        say("ann", "GET k1")
        say("eve", "PING")
        path.unlink()
        say("op", "ACL SAVE")
        talk.close()
        server.stop()
        server.start()
        talk = Talk(server)
        say("op", "ACL LIST")
        talk.close()
        path.write_text(BROKEN)
        server.stop()
        server.launch()
        told.append(f"on a broken file it ends with {server.process.wait(timeout=10)}")
        path.unlink()
        server.launch()
        told.append(f"without the file it ends with {server.process.wait(timeout=10)}")
    return [line.replace(str(server.directory), "DIR") for line in told]


def main():
    report = Report()
    with Server() as server, Server(REFERENCE) as reference:
        check_rows(report, server, reference)
        check_conversations(report, server, reference)
    for ours, theirs in zip(story_of_file(None), story_of_file(REFERENCE)):
        report.equal(f"aclfile: {theirs.splitlines()[0][:60]}", ours, theirs)
    report.finish()


main()
