"""The rules of the house, each a function from a Tree to a list of problems ("path:line: what")."""

import ast
import fnmatch
import pathlib
import posixpath
import re

MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 69

# What explains the folders: each has a line in the table of one of these files, in this order.
MAPS = {"core/": "core/README.md", "server/": "server/README.md"}

# Commands on values, which are the same in every host: they know these folders and core/ only.
HOSTED = ["server/resp/", "server/effects/", "server/command/", "server/arguments/",
          "server/commands/"]

# What may include Asio or touch a descriptor.
NEAR_THE_SYSTEM = [
    "server/process/program.", "server/process/server.", "server/process/signals.",
    "server/process/supervisor.", "server/net/",
    "server/aof/file_system.", "server/aof/background_thread.", "server/log/log.",
    "server/config/text_file.",
    # The process reads its own figures, and what the kernel's clock is, from /proc and /sys.
    "server/state/cycle_clock.",
    "server/memory/memory_usage.", "server/figures/process_figures.",
]
SYSTEM_INCLUDE = re.compile(
    r"#include\s*[<\"](asio[/.].*|unistd\.h|fcntl\.h|poll\.h|netdb\.h|netinet/.*|arpa/.*|openssl/ssl\.h"
    r"|sys/(socket|un|epoll|eventfd|ioctl|mman|stat|uio)\.h|fstream)[>\"]")

# What may not stand in core/, outside comments and strings.
NOT_IN_CORE = [
    (re.compile(r"\basio\b"), "Asio"),
    (re.compile(r"#include\s*\"server/"), "server/"),
    (re.compile(r"\b(system|steady|high_resolution|utc|file)_clock\b|\babsl::(Now|Clock)\b"
                r"|\b(gettimeofday|clock_gettime|GetCurrentTimeNanos)\b|\bstd::time\b"
                r"|(?<![\w.>:])time\s*\(\s*(nullptr|NULL|0|&)"), "a clock"),
    (re.compile(r"\bstd::(thread|jthread|mutex|shared_mutex|condition_variable|async)\b|\bpthread_"
                r"|#include\s*<(thread|mutex|shared_mutex|condition_variable|future)>"), "a thread"),
    (re.compile(r"#include\s*<(iostream|fstream)>|\b(fopen|fprintf|std::cerr|std::cout)\b"),
     "a file or a log"),
    (re.compile(r"\babsl::(LoadTimeZone|LocalTimeZone)\b|\bstd::filesystem\b|\bgetenv\b"
                r"|#include\s*(<filesystem>|\"core/tzdata/)"), "tzdata"),
]
# The assertion says what broke before it aborts.
CORE_EXCEPTIONS = {("core/base/check.h", "a file or a log"), ("core/base/check.cc", "a file or a log")}

# What a key's value is: of all .cc files less than this part may depend on one of these headers.
VALUE_HEADERS = ["core/bytes/text.h", "core/list/list.h", "core/hash/hash.h", "core/set/set.h",
                 "core/zset/zset.h", "core/hits/hits.h", "core/limit/limit_state.h",
                 "core/active/active_set.h", "core/quota/quota_book.h"]
MOST_DEPENDENTS = 0.25

UNFINISHED = re.compile(r"\b(" + "TO" + "DO|" + "FIX" + "ME|" + "XX" + r"X)\b")


class Tree:
    """The text files under the folders of the house, by their path from the root."""

    FOLDERS = ["core", "server", "tests", "bench", "conf"]
    SUFFIXES = {".h", ".cc", ".py", ".sh", ".md", ".txt", ".php", ".go", ".js", ".conf", ""}
    SKIPPED = {"corpus", "node_modules", "__pycache__", "vendor"}

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.text = {}
        for folder in self.FOLDERS:
            for path in sorted((self.root / folder).rglob("*")):
                relative = path.relative_to(self.root)
                if self.SKIPPED.isdisjoint(relative.parts) and path.suffix in self.SUFFIXES \
                        and path.is_file():
                    self.text[str(relative)] = path.read_text(encoding="utf-8", errors="replace")

    def sources(self, *folders):
        """C++ files under the folders, as (path, text)."""
        return [(path, text) for path, text in self.text.items()
                if path.endswith((".h", ".cc")) and path.startswith(folders)]


def blank(match):
    """What was matched, with all but its line ends blanked, so that line numbers stay."""
    return re.sub(r"[^\n]", " ", match.group(0))


NOISE = re.compile(
    r"//[^\n]*|/\*.*?\*/|R\"(?P<tag>\w*)\(.*?\)(?P=tag)\"|(?<!['\w])'(?:\\.|[^'\\\n])+'"
    r"|(?P<include>#include[^\n]*)|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)


def code_of(text):
    """The text without comments and literals; include lines stay."""
    return NOISE.sub(lambda m: m.group(0) if m.group("include") else blank(m), text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def includes(text):
    """(line, path) of each include of a file of ours."""
    return [(line_of(text, m.start()), m.group(1))
            for m in re.finditer(r'^\s*#include\s*"([^"]+)"', text, re.MULTILINE)]


def rooms(tree, top):
    """The folders that the map of `top` names, with their places in its table, and a line each."""
    found = {}
    for number, line in enumerate(tree.text.get(MAPS[top], "").splitlines(), 1):
        row = re.match(r"\| (`[^|]+`) \| \S", line)
        for name in re.findall(r"`([\w/]+)/`", row.group(1)) if row else []:
            found[top + name] = number
    return found


def check_rooms(tree):
    """Each folder is explained, and knows only what stands above it in the explanation."""
    problems = []
    for top, readme in MAPS.items():
        known = rooms(tree, top)
        folders = {posixpath.dirname(path) for path, _ in tree.sources(top)}
        problems += [f"{readme}:{known[folder]}: {folder} has no sources"
                     for folder in known.keys() - folders - {"core/package"}]
        for path, text in tree.sources(top):
            folder = posixpath.dirname(path)
            if folder not in known:
                problems.append(f"{path}:1: {folder} has no line in {readme}")
                continue
            for line, target in includes(text):
                other = known.get(posixpath.dirname(target), 0)
                if other > known[folder]:
                    problems.append(f"{path}:{line}: {target} is below {folder} in {readme}")
    return problems


def check_loose_files(tree):
    """server/ and core/ hold folders."""
    allowed = {"server/run", "server/README.md", "core/README.md", "core/CMakeLists.txt"}
    return [f"{path}:1: belongs into a folder" for path in tree.text
            if path.startswith(("core/", "server/")) and path.count("/") == 1
            and path not in allowed]


def check_hosted(tree):
    allowed = (*HOSTED, "core/")
    return [f"{path}:{line}: {target} is known to the server only"
            for path, text in tree.sources(*HOSTED) for line, target in includes(text)
            if target.startswith("server/") and not target.startswith(allowed)]


def strongly_connected(graph):
    """The sets of nodes that reach one another, of two or more. Tarjan's algorithm."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in sorted(graph.get(node, ())):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            begin = stack.index(node)
            component = stack[begin:]
            del stack[begin:]
            if len(component) > 1:
                found.append(sorted(component))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def check_folder_cycles(tree):
    """Every folder counts as itself, so that nothing is hidden in a group."""
    graph, reasons = {}, {}
    for path, text in tree.sources("core/", "server/"):
        folder = path.rpartition("/")[0]
        for line, target in includes(text):
            other = target.rpartition("/")[0]
            if other != folder and other.startswith(("core", "server")):
                graph.setdefault(folder, set()).add(other)
                reasons.setdefault((folder, other), f"{path}:{line}: {target}")
    problems = []
    for component in strongly_connected(graph):
        steps = [reasons[a, b] for a in component for b in component if (a, b) in reasons]
        problems.append(f"{steps[0]} is in a cycle of folders, {', '.join(component)}: "
                        + "; ".join(steps))
    return problems


def check_system_includes(tree):
    problems = []
    for path, text in tree.sources("core/", "server/"):
        if path.startswith(tuple(NEAR_THE_SYSTEM)):
            continue
        for match in SYSTEM_INCLUDE.finditer(code_of(text)):
            problems.append(f"{path}:{line_of(text, match.start())}: {match.group(0)} outside the "
                            "files that may touch a descriptor")
    return problems


def check_core_purity(tree):
    problems = []
    for path, text in tree.sources("core/"):
        code = code_of(text)
        for pattern, what in NOT_IN_CORE:
            # The part beside the core that reads the files of tzdata.
            reads_tzdata = what == "tzdata" and path.startswith("core/tzdata/")
            if (path, what) in CORE_EXCEPTIONS or reads_tzdata:
                continue
            for match in pattern.finditer(code):
                problems.append(f"{path}:{line_of(code, match.start())}: core/ names {what}: "
                                f"{match.group(0)}")
    return problems


def check_include_cycles(tree):
    graph = {path: [target for _, target in includes(text)]
             for path, text in tree.sources("core/", "server/")}
    problems, done = [], set()

    def visit(path, trail):
        if path in trail:
            cycle = trail[trail.index(path):] + [path]
            problems.append(f"{path}:1: include cycle {' -> '.join(cycle)}")
            return
        if path in done:
            return
        for target in graph.get(path, []):
            visit(target, trail + [path])
        done.add(path)

    for path in graph:
        visit(path, [])
    return problems


def check_file_sizes(tree):
    problems = []
    for path, text in tree.text.items():
        lines = len(text.splitlines())
        if lines > MAX_FILE_LINES and path.endswith((".h", ".cc", ".py", ".sh")):
            problems.append(f"{path}:{lines}: more than {MAX_FILE_LINES} lines")
    return problems


NOT_A_FUNCTION = re.compile(r"^\s*(namespace|class|struct|union|enum|extern|concept)\b|[=,(]\s*$"
                            r"|\breturn\s*$")


# The brace of a member initializer, `A::A(int x) : x_(x), y_` before `{1}`: part of the head.
MEMBER_BRACE = re.compile(r"\)\s*(noexcept\s*)?:(?!:).*[\w>]\s*$", re.DOTALL)


def cpp_functions(text):
    """(first line, last line) of each function with a body, lambdas counted with their function."""
    code = re.sub(r"^[ \t]*#[^\n]*", blank, code_of(text), flags=re.MULTILINE)
    depth, head_start = 0, 0
    function = member = None  # depth outside the function's body, or the member's braces
    start = 0
    for match in re.finditer(r"[{};]", code):
        head = code[head_start:match.start()]
        if match.group(0) == "{":
            if function is None and member is None:
                plain = re.sub(r"^\s*template\s*<[^{};]*?>\s*(?=\w)", "", head)
                if MEMBER_BRACE.search(plain):
                    member = depth
                elif ")" in plain and not NOT_A_FUNCTION.search(plain):
                    function = depth
                    start = line_of(code, head_start + re.search(r"\S", head).start())
            depth += 1
        elif match.group(0) == "}":
            depth -= 1
            if depth == member:
                member = None
                continue
            if depth == function:
                yield start, line_of(code, match.start())
                function = None
        if member is None:
            head_start = match.end()


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno


def check_function_sizes(tree):
    problems = []
    for path, text in tree.text.items():
        if path.endswith((".h", ".cc")):
            functions = cpp_functions(text)
        elif path.endswith(".py"):
            functions = python_functions(text)
        else:
            continue
        for first, last in functions:
            if last - first + 1 > MAX_FUNCTION_LINES:
                problems.append(f"{path}:{first}: a function of {last - first + 1} lines, more than "
                                f"{MAX_FUNCTION_LINES}")
    return problems


def check_headers(tree):
    return [f"{path}:1: a header without #pragma once"
            for path, text in tree.sources("core/", "server/", "tests/", "bench/")
            if path.endswith(".h") and not re.search(r"^#pragma once$", text, re.MULTILINE)]


def check_include_paths(tree):
    """Includes of ours are written from the root; tests' helpers also from beside the test."""
    problems = []
    for path, text in tree.sources("core/", "server/", "tests/", "bench/"):
        for line, target in includes(text):
            third_party = "/" in target and not target.startswith(tuple(tree.FOLDERS))
            beside = [(tree.root / path).parent / target, tree.root / "tests/unit" / target]
            helper = path.startswith("tests/") and any(file.exists() for file in beside)
            if not third_party and not helper and not (tree.root / target).exists():
                problems.append(f"{path}:{line}: {target} is no path from the root")
    return problems


def check_unfinished(tree):
    problems = []
    for path, text in tree.text.items():
        for match in UNFINISHED.finditer(text):
            problems.append(f"{path}:{line_of(text, match.start())}: {match.group(0)}")
    return problems


EMPTY_STRING = re.compile(r"[^=!<>]= std::string(\(\)|\{\});")


def check_freed_strings(tree):
    """libstdc++ keeps the memory of a string to which an empty one is assigned."""
    return [f"{path}:{number}: frees nothing; see core/bytes/recycle.h"
            for path, text in tree.sources("core/", "server/")
            for number, line in enumerate(text.splitlines(), 1) if EMPTY_STRING.search(line)]


TYPE = re.compile(r"^(?:class|struct|enum class|using) (\w+)(?= final| :| \{|;| =)", re.MULTILINE)


def check_anonymous_types(tree):
    """Files are compiled together: a header that comes after such a type would mean that type."""
    declared = {name: path for path, text in tree.sources("core/", "server/") if path.endswith(".h")
                for name in TYPE.findall(text)}
    return [f"{path}: {name} is a type of {declared[name]} too"
            for path, text in tree.sources("core/", "server/") if path.endswith(".cc")
            for block in re.findall(r"^namespace \{\n(.*?)^\}  // namespace\n", text, re.MULTILINE | re.DOTALL)
            for name in TYPE.findall(block) if name in declared]


BARE_TIME = re.compile(r"\bint64_t>?&? (now|at|until|deadline|judged_at|instant|not_after|forget_at|expires_at|latest"
                       r"|newest|oldest|due|period|elapsed|timeout|ttl)_?\b(?!\()")


def check_times(tree):
    """A number that is a time says its unit: now_ms, not now. What config calls so is named after its directive."""
    return [f"{path}:{number}: {found.group(1)} says no unit" for path, text in tree.sources("core/", "server/")
            if path != "server/config/config.h"
            for number, line in enumerate(text.splitlines(), 1) for found in BARE_TIME.finditer(line)]


def check_test_namespaces(tree):
    """Unit tests are compiled together too: what a file needs for itself is in a namespace of its name."""
    return [f"{path}:1: has no namespace {own}" for path, text in tree.sources("tests/unit/core/", "tests/unit/server/")
            if path.endswith("_test.cc")
            for own in [posixpath.basename(path).removesuffix(".cc")]
            if not re.search(rf"^namespace tally(::\w+)*::{own} {{$", text, re.MULTILINE)]


def sources_named(path, text):
    """What a CMakeLists.txt names as sources: (pattern, whether it reaches the folders below)."""
    folder = posixpath.dirname(path)
    for call in re.finditer(r"(\w+)\s*\(([^()]*)\)", re.sub(r"#.*", "", text)):
        if call.group(1) == "list":
            continue  # removes what is in another target
        for word in call.group(2).split():
            if word.endswith(".cc"):
                from_root = word.removeprefix("${PROJECT_SOURCE_DIR}/")
                place = from_root if from_root != word else posixpath.join(folder, word)
                yield place, "GLOB_RECURSE" in call.group(2)


def check_targets(tree):
    """A file that no target has compiles nowhere, and its tests run nowhere."""
    lists = {path: text for path, text in tree.text.items() if path.endswith("CMakeLists.txt")}
    top = tree.root / "CMakeLists.txt"
    lists["CMakeLists.txt"] = top.read_text(encoding="utf-8") if top.exists() else ""
    named = [one for path, text in lists.items() for one in sources_named(path, text)]

    def is_named(path):
        return any(fnmatch.fnmatch(path, pattern) and (deep or path.count("/") == pattern.count("/"))
                   for pattern, deep in named)

    return [f"{path}:1: is in no target" for path, _ in tree.sources(*tree.FOLDERS)
            if path.endswith(".cc") and not is_named(path)]


def dependents(tree, header, sources):
    """How many of the sources include the header, or what includes it."""
    includers = {}
    for path, text in tree.sources(*tree.FOLDERS):
        for _, target in includes(text):
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
            for place in (target, beside, "tests/unit/" + target):
                if place in tree.text:
                    includers.setdefault(place, []).append(path)
                    break
    reached, waiting = set(), [header]
    while waiting:
        for path in includers.get(waiting.pop(), []):
            if path not in reached:
                reached.add(path)
                waiting.append(path)
    return len(reached & sources)


def check_value_headers(tree):
    """A change to how a type is kept must not wait for the whole tree to be built."""
    sources = {path for path, _ in tree.sources(*tree.FOLDERS) if path.endswith(".cc")}
    problems = []
    for header in VALUE_HEADERS:
        count = dependents(tree, header, sources)
        if header in tree.text and count >= MOST_DEPENDENTS * len(sources):
            problems.append(f"{header}:1: {count} of {len(sources)} files depend on it")
    return problems


RULES = [check_rooms, check_loose_files, check_hosted, check_folder_cycles, check_system_includes,
         check_core_purity, check_include_cycles, check_file_sizes, check_function_sizes, check_headers, check_include_paths,
         check_unfinished, check_freed_strings, check_targets, check_anonymous_types, check_test_namespaces, check_times,
         check_value_headers]
