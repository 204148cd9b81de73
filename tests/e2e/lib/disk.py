"""Disks that take nothing: limits on a server's files, and what it answers then."""

import resource

from lib.resp import ReplyError


def last_log(server):
    """The path of the last incremental log."""
    logs = (server.directory / "appendonlydir").glob("*.incr.aof")
    return max(logs, key=lambda path: int(path.name.split(".")[2]))


def reply_of(client, *command):
    """The reply, or the error as text; "closed" if the server hangs up."""
    try:
        return client.call(*command)
    except ReplyError as error:
        return str(error)
    except ConnectionError:
        return "closed"


def limit_files(server, size):
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
