#!/usr/bin/env python3
"""Output that is large, not read, cut off or for many at once: what comes arrives whole and in order,
and the server's memory stays bounded."""

# tests/run: also under asan

import hashlib
import pathlib
import resource
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lib.report import Report  # noqa: E402
from lib.resp import ReplyError, RespClient, encode  # noqa: E402
from lib.server import Server, free_port  # noqa: E402
from lib.sockets import (MIB, WAIT_SECONDS, connect, cpu_ticks, descriptors, first_reply,  # noqa: E402
                         is_instrumented, receive, set_descriptors)
from lib.waiting import wait_for  # noqa: E402

LARGE = 48 * MIB


def pattern(size, seed=1):
    """Bytes of which no two blocks are alike."""
    return hashlib.shake_128(b"%d" % seed).digest(size)


def make_certificate(directory):
    """Of the server, signed by itself; returns its path and that of its key."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=server",
                    "-keyout", "server.key", "-out", "server.crt"],
                   cwd=directory, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return directory / "server.crt", directory / "server.key"


def is_closed(client):
    """Reads what is left; whether the server has ended the connection."""
    try:
        while client.recv(MIB):
            pass
        return True
    except TimeoutError:
        return False
    except OSError:
        return True


def bulk(value):
    return b"$%d\r\n%s\r\n" % (len(value), value)


def row(client, section, name):
    for line in client.call("INFO", section).decode().split("\r\n"):
        if line.startswith(name + ":"):
            return int(line.split(":")[1])
    raise KeyError(name)


def listed(client, name):
    """The fields of the client of that name in CLIENT LIST; None if it is not there."""
    for line in client.call("CLIENT", "LIST").decode().splitlines():
        fields = dict(field.split("=", 1) for field in line.split(" "))
        if fields["name"] == name:
            return fields
    return None


def check_change_in_the_midst(report, kind, server, dial):
    """A reply is what the value was, whatever becomes of it while the reply is on its way."""
    value = pattern(LARGE)
    with server.client() as client:
        for what in (["FLUSHALL"], ["DEL", "value"], ["SET", "value", "x"], ["APPEND", "value", "x"]):
            client.call("SET", "value", value)
            reader = dial()
            reader.sendall(encode(["GET", "value"]) + encode(["PING"]))
            begin = receive(reader, MIB)
            client.call(*what)
            expected = bulk(value) + b"+PONG\r\n"
            rest = receive(reader, len(expected) - len(begin))
            report.check(f"{kind}: a reply of {LARGE // MIB} MiB outlives {what[0]} of its value",
                         begin + rest == expected)
            reader.close()


def check_ends(report, kind, server, dial):
    """A client with much unread output is killed, or cut off by a new limit."""
    with server.client() as client:
        client.call("SET", "value", pattern(LARGE))
        reader = dial()
        reader.sendall(encode(["CLIENT", "SETNAME", "slow"]) + encode(["GET", "value"]))
        receive(reader, MIB)
        fields = listed(client, "slow")
        report.check(f"{kind}: CLIENT LIST says what waits for it",
                     int(fields["oll"]) > 0 and LARGE // 2 < int(fields["omem"]) < LARGE * 2, fields)
        client.call("CLIENT", "KILL", "ID", fields["id"])
        report.check(f"{kind}: CLIENT KILL ends a client that waits", is_closed(reader))
        reader.close()

        reader = dial()
        reader.sendall(encode(["GET", "value"]))
        receive(reader, MIB)
        closed = row(client, "stats", "client_output_buffer_limit_disconnections")
        client.call("CONFIG", "SET", "client-output-buffer-limit", "normal 1mb 0 0")
        report.check(f"{kind}: a lower limit ends a client that waits", is_closed(reader))
        report.equal(f"{kind}: and is counted",
                     row(client, "stats", "client_output_buffer_limit_disconnections"), closed + 1)
        client.call("CONFIG", "SET", "client-output-buffer-limit", "normal 0 0 0")
        reader.close()
        report.check(f"{kind}: what was held is free again",
                     wait_for(lambda: listed(client, "slow") is None
                           and row(client, "memory", "mem_clients_normal") < 4 * MIB))


def check_half_closed(report, server, dial):
    """Who sends no more still gets all replies."""
    value = pattern(MIB)
    with server.client() as client:
        client.call("SET", "value", value)
    reader = dial()
    reader.sendall(encode(["GET", "value"]) * 16 + encode(["QUIT"]))
    reader.shutdown(socket.SHUT_WR)
    got = receive(reader, 17 * (MIB + 20))
    report.check("a half-closed client gets what it asked for", got == bulk(value) * 16 + b"+OK\r\n")
    reader.close()


def check_limit_in_a_transaction(report, instrumented):
    """Output beyond the limit is dropped as it comes up, not at the end of EXEC or of a script."""
    with Server() as server, server.client() as client:
        client.call("CONFIG", "SET", "client-output-buffer-limit", "normal 8mb 0 0 pubsub 8mb 0 0")
        client.call("SET", "value", pattern(4 * MIB))
        client.call("RPUSH", "list", *[pattern(MIB, i) for i in range(64)])
        exchange = encode(["MULTI"]) + encode(["GET", "value"]) * 500 + encode(["INCR", "ran"]) + encode(["EXEC"])
        script = "for i = 1, 500 do redis.call('PUBLISH', 'self', ARGV[1]) end redis.call('INCR', 'ran')"
        subscribed = encode(["HELLO", 3]) + encode(["SUBSCRIBE", "self"]) + encode(["EVAL", script, 0, "m" * MIB])
        for what, request in [("EXEC", exchange), ("a list of 64 MB", encode(["LRANGE", "list", 0, -1])),
                              ("a script's own messages", subscribed)]:
            peak = row(client, "memory", "used_memory")
            reader = connect(server.port)
            reader.sendall(request)
            report.check(f"{what}: output beyond the limit closes the client", is_closed(reader))
            reader.close()
            client.call("PING")
            grown = row(client, "memory", "used_memory_peak") - peak
            if not instrumented:
                report.check(f"{what}: and never takes much more than the limit", grown < 40 * MIB, grown)
        report.equal("the commands after it have run", client.call("GET", "ran"), b"2")
        report.equal("others go on", client.call("STRLEN", "value"), 4 * MIB)


def read3(stream):
    """A reply of RESP3; a push is a tuple."""
    line = stream.readline()
    kind, rest = line[:1], line[1:-2]
    if kind in b"$=":
        return stream.read(int(rest) + 2)[:-2]
    if kind in b"*~>%":
        items = [read3(stream) for _ in range(int(rest) * (2 if kind == b"%" else 1))]
        return tuple(items) if kind == b">" else items
    if kind == b":":
        return int(rest)
    if kind in b"+_,#":
        return rest
    raise ValueError(line)


def check_pushes(report, server):
    """Messages come between replies, never inside one, however many blocks a reply is in."""
    value = pattern(MIB)
    with server.client() as client:
        client.call("SET", "value", value)
        reader = connect(server.port)
        stream = reader.makefile("rb")
        reader.sendall(encode(["HELLO", 3]) + encode(["SUBSCRIBE", "channel"]))
        read3(stream), read3(stream)
        own = "redis.call('PUBLISH', 'channel', 'own'); return redis.call('GET', 'value')"
        reader.sendall((encode(["GET", "value"]) + encode(["EVAL", own, 0])) * 20)
        published = 0
        for i in range(200):
            published += client.call("PUBLISH", "channel", b"%d" % i * (1 + i * i))
        replies, messages = [], []
        while len(replies) < 40 or len(messages) < 220:
            item = read3(stream)
            (messages if isinstance(item, tuple) else replies).append(item)
        report.equal("each message was for the one subscriber", published, 200)
        report.check("replies of several blocks are whole between pushes", replies == [value] * 40)
        others = [message[2] for message in messages if message[2] != b"own"]
        report.check("and so are the pushes, in their order",
                     others == [b"%d" % i * (1 + i * i) for i in range(200)] and len(messages) == 220)
        stream.close()
        reader.close()


def check_reply_mode(report, server):
    value = pattern(3 * MIB)
    with server.client() as client:
        client.call("SET", "value", value)
        get = encode(["GET", "value"])
        client.socket.sendall(encode(["CLIENT", "REPLY", "OFF"]) + get * 3 + encode(["CLIENT", "REPLY", "ON"]))
        report.equal("CLIENT REPLY OFF keeps back replies of many blocks", client.read(), "OK")
        client.socket.sendall(get + encode(["CLIENT", "REPLY", "SKIP"]) + get + encode(["ECHO", "end"]))
        report.check("what is before a skipped reply is sent", client.read() == value)
        report.equal("and what is after it", client.read(), b"end")


def check_nested(report, server):
    """Counts that are known only at the end go in front of what is in several blocks."""
    text = "t" * 1000
    with server.client() as client:
        for i in range(3000):
            client.call("SADD", "one", f"{i}:{text}")
        client.call("SUNIONSTORE", "two", "one")
        members = {f"{i}:{text}".encode() for i in range(3000)}
        report.check("SINTER", set(client.call("SINTER", "one", "two")) == members)
        client.call("MULTI")
        for _ in range(3):
            client.call("SINTER", "one", "two")
        sets = client.call("EXEC")
        report.check("SINTER in EXEC", [set(each) for each in sets] == [members] * 3)
        script = """local all = {}
                    for i = 1, 50 do
                      all[i] = {i, {}, string.rep('s', i * 100)}
                      for j = 1, 100 do all[i][2][j] = {i * j, string.rep('x', j)} end
                    end
                    return all"""
        expected = [[i, [[i * j, b"x" * j] for j in range(1, 101)], b"s" * (i * 100)] for i in range(1, 51)]
        report.check("arrays in arrays of a script", client.call("EVAL", script, 0) == expected)
        own = client.call("EVAL", "return redis.call('SINTER', 'one', 'two')", 0)
        report.check("what a script reads is whole too", set(own) == members)


def check_messages_for_many(report):
    """One copy for all, which each gets whole, in order."""
    count, size, subscribers = 2000, 10_000, 20
    with Server() as server, server.client() as client:
        client.call("CONFIG", "SET", "client-output-buffer-limit", "pubsub 0 0 0")
        readers = []
        for i in range(subscribers):
            readers.append(connect(server.port))
            words = ["PSUBSCRIBE", "c*"] if i % 4 == 0 else ["SUBSCRIBE", "channel"]
            readers[-1].sendall(encode(["CLIENT", "SETNAME", f"reader{i}"]) + encode(words))
        wait_for(lambda: listed(client, f"reader{subscribers - 1}") is not None
              and client.call("PUBSUB", "NUMPAT") == 1 and client.call("PUBSUB", "NUMSUB", "channel")[1] == 15)
        before = row(client, "memory", "used_memory")
        messages = [pattern(size, i) if i % 2 else pattern(i % 500, i) for i in range(count)]
        for message in messages:
            client.call("PUBLISH", "channel", message)
        grown = row(client, "memory", "used_memory") - before
        each = int(listed(client, "reader1")["omem"])
        report.check("20 subscribers that do not read share what waits for them",
                     each > count * size // 4 and grown < 3 * count * size, f"{each} each, {grown} in all")
        right = []
        for i, reader in enumerate(readers):
            with reader.makefile("rb") as stream:
                names = [read3(stream), read3(stream)]
                got = [read3(stream) for _ in messages]
                prefix = [b"pmessage", b"c*", b"channel"] if i % 4 == 0 else [b"message", b"channel"]
                right.append(names[0] == b"OK" and got == [prefix + [message] for message in messages])
            reader.close()
        report.equal("and each gets them all, in order", right, [True] * subscribers)


def check_monitors(report, server):
    with server.client() as client:
        monitors = [connect(server.port) for _ in range(3)]
        for monitor in monitors:
            monitor.sendall(encode(["MONITOR"]))
            report.equal("MONITOR", receive(monitor, 5), b"+OK\r\n")
        values = [chr(ord("a") + i % 26) * (i * i * 30) for i in range(100)]
        for value in values:
            client.call("SET", "key", value)
        for monitor in monitors:
            with monitor.makefile("rb") as stream:
                lines = [stream.readline() for _ in values]
            report.check("each monitor gets every line",
                         all(line.endswith(b'"SET" "key" "%s"\r\n' % value.encode())
                             for line, value in zip(lines, values)))
            monitor.close()


def check_shutdown(report):
    with Server() as server:
        with server.client() as client:
            client.call("SET", "value", pattern(LARGE))
        reader = connect(server.port)
        reader.sendall(encode(["GET", "value"]))
        receive(reader, MIB)
        report.equal("SHUTDOWN does not wait for a client that does not read", server.stop(), 0)
        reader.close()


def check_no_descriptors(report):
    """Nobody is let in, the server rests, and the first who leaves makes room for the next."""
    with Server(appendonly="yes") as server, server.client() as client:
        others = [connect(server.port) for _ in range(5)]
        report.equal("all are served", [first_reply(one) for one in others], [b"+PONG\r\n"] * 5)
        set_descriptors(server, max(descriptors(server)) + 1)
        waiting = [connect(server.port) for _ in range(20)]
        report.check("it is told", wait_for(lambda: "Accepting client connection" in server.log()))
        ticks = cpu_ticks(server)
        time.sleep(2)
        report.check("a server without descriptors does not spin", cpu_ticks(server) - ticks < 40,
                     cpu_ticks(server) - ticks)
        report.equal("and says so once", server.log().count("Accepting client connection"), 1)
        report.equal("who is connected is served", client.call("SET", "key", 1), "OK")
        # A descriptor that is free again is one of the last, which are for files.
        others.pop().close()
        report.check("who comes then is refused", first_reply(waiting[0]).startswith(b"-ERR max number of clients"))
        for one in others:
            one.close()
        report.equal("a rewrite finds descriptors", client.call("BGREWRITEAOF"),
                     "Background append only file rewriting started")
        report.check("and ends", wait_for(lambda: row(client, "persistence", "aof_rewrite_in_progress") == 0
                                       and b"aof_last_bgrewrite_status:ok" in client.call("INFO", "persistence")))
        set_descriptors(server, 1000)
        late = connect(server.port)
        report.equal("with descriptors everybody is served again", first_reply(late), b"+PONG\r\n")
        report.equal("without a further word", server.log().count("Accepting client connection"), 1)


def limits(server):
    return resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)


def check_overflow(report):
    """Nothing is sent of a reply that alone is larger than the client may have."""
    with Server(client_output_buffer_limit="normal 1mb 0 0") as server, server.client() as client:
        client.socket.sendall(encode(["EVAL", "local s, t = string.rep(':1\\r\\n', 1e5), {} "
                                      "for i = 1, 50 do t[i] = s end return t", 0]))
        try:
            received = client.socket.recv(1000)
        except ConnectionError:
            received = b""
        report.equal("a reply beyond the limit: closed, and nothing sent", received, b"")


def check_maxclients(report):
    with Server(maxclients=50) as server, server.client() as client:
        own, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = 1124
        if hard == resource.RLIM_INFINITY or hard >= 2 * wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(own, 2 * wanted), hard))
            resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (1024, hard))
            report.equal("CONFIG SET maxclients raises the limit of open files",
                         client.call("CONFIG", "SET", "maxclients", wanted), "OK")
            report.check("as far as it has to", limits(server)[0] >= wanted + 32, limits(server))
            others = [RespClient(server.port) for _ in range(wanted - 1)]
            report.equal("and this many clients come in", {other.call("PING") for other in others}, {"PONG"})
            for other in others:
                other.close()
            report.check("and leave", wait_for(lambda: b"connected_clients:1\r\n" in client.call("INFO", "clients")))
            resource.setrlimit(resource.RLIMIT_NOFILE, (own, hard))
        before = client.call("CONFIG", "GET", "maxclients")
        try:
            client.call("CONFIG", "SET", "maxclients", (1 << 32) - 1)
            report.check("more than the kernel has are refused", False)
        except ReplyError as error:
            report.equal("more than the kernel has are refused", str(error),
                         "ERR CONFIG SET failed (possibly related to argument 'maxclients') - The operating system "
                         "is not able to handle the specified number of clients, try with "
                         f"{limits(server)[0] - 32}")
        report.equal("and change nothing", client.call("CONFIG", "GET", "maxclients"), before)
        client.call("CONFIG", "SET", "maxclients", 2)
        with RespClient(server.port) as second:
            report.equal("the last one that fits", second.call("PING"), "PONG")
            with RespClient(server.port) as third:
                try:
                    third.call("PING")
                    report.check("and one too many", False)
                except (ReplyError, OSError) as error:
                    report.check("and one too many", "max number of clients reached" in str(error)
                                 or isinstance(error, OSError), error)


def check_unlogged(report):
    """A log that fails closes those whose writes it lost, not those that wrote long before."""
    with Server(appendonly="yes") as server, server.client() as quiet, server.client() as client:
        quiet.socket.sendall(encode(["CLIENT", "REPLY", "OFF"]) + encode(["SET", "quiet", 1]))
        report.check("a write without a reply", wait_for(lambda: client.call("GET", "quiet") == b"1"))
        log = max((server.directory / "appendonlydir").glob("*.incr.aof"))
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE,
                         (log.stat().st_size + 30, resource.RLIM_INFINITY))
        with server.client() as writer:
            try:
                writer.call("SET", "big", "x" * 1000)
                report.check("a write that the disk does not take is not acknowledged", False)
            except OSError:
                report.check("a write that the disk does not take is not acknowledged", True)
        quiet.socket.sendall(encode(["CLIENT", "REPLY", "ON"]))
        report.equal("who wrote before is still there", quiet.read(), "OK")
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE,
                         (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def check_many_at_once(report, server):
    """More is asked for than one turn gives out: everybody is served, and in order."""
    value = pattern(64 * 1024)
    clients, rounds = 200, 5
    with server.client() as client:
        client.call("MSET", "value", value, "n", 1000)
        readers = [connect(server.port, 1 << 16) for _ in range(clients)]
        request = (encode(["GET", "value"]) + encode(["INCR", "n"])) * rounds
        got = [b""] * clients

        def read(begin):
            for i in range(begin, clients, 8):
                got[i] = receive(readers[i], rounds * (len(bulk(value)) + len(":1001\r\n")))

        threads = [threading.Thread(target=read, args=(begin,)) for begin in range(8)]
        for reader in readers:
            reader.sendall(request)
        for thread in threads:
            thread.start()
        report.equal("others are served meanwhile", client.call("PING"), "PONG")
        for thread in threads:
            thread.join()
        report.check("200 clients get all of 64 KB values", all(part.count(bulk(value)) == rounds for part in got))
        report.equal("and every command has run once", client.call("GET", "n"), b"%d" % (1000 + clients * rounds))
        for reader in readers:
            reader.close()


def main():
    report = Report()
    tls_port = free_port()
    with tempfile.TemporaryDirectory() as directory:
        certificate, key = make_certificate(pathlib.Path(directory))
        with Server(tls_port=tls_port, tls_auth_clients="no", tls_cert_file=certificate,
                    tls_key_file=key) as server:
            context = ssl.create_default_context(cafile=certificate)
            context.check_hostname = False

            def dial():
                return connect(server.port)

            def dial_tls():
                return context.wrap_socket(connect(tls_port))

            for kind, dialled in [("plain", dial), ("TLS", dial_tls)]:
                check_change_in_the_midst(report, kind, server, dialled)
                check_ends(report, kind, server, dialled)
            check_half_closed(report, server, dial)
            check_pushes(report, server)
            check_reply_mode(report, server)
            check_nested(report, server)
            check_monitors(report, server)
            check_many_at_once(report, server)
    instrumented = is_instrumented()
    check_limit_in_a_transaction(report, instrumented)
    check_messages_for_many(report)
    check_shutdown(report)
    check_unlogged(report)
    if not instrumented:
        check_no_descriptors(report)
    check_overflow(report)
    check_maxclients(report)
    report.finish()


main()
