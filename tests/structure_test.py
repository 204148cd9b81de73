#!/usr/bin/env python3
"""Checks the sources against the rules of structure_rules.py, and each rule against a bad tree."""

import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import structure_rules as rules  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent


class HouseTest(unittest.TestCase):
    """The sources as they are."""

    def test_rules(self):
        tree = rules.Tree(ROOT)
        self.assertGreater(len(tree.sources("core/")), 0)
        for rule in rules.RULES:
            with self.subTest(rule.__name__):
                self.assertEqual(rule(tree), [])

    def test_examples_of_style(self):
        """What the page for contributors shows is in the file that it names."""
        page = (ROOT / ".github/CONTRIBUTING.md").read_text()
        examples = re.findall(r"\(`([^`]+)`\):\n\n```cpp\n(.*?)```", page, re.DOTALL)
        self.assertEqual(len(examples), page.count("```cpp"))
        for path, code in examples:
            with self.subTest(path):
                self.assertIn(code, (ROOT / path).read_text())


class RuleTest(unittest.TestCase):
    """Each rule finds what it is for, and nothing in what is right."""

    def problems(self, rule, files):
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                file = pathlib.Path(root, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            return rule(rules.Tree(root))

    def check(self, rule, bad, good):
        self.assertNotEqual(self.problems(rule, bad), [])
        self.assertEqual(self.problems(rule, good), [])

    def test_rooms(self):
        tables = {"core/README.md": "| `base/`, `list/` | values |\n| `engine/` | the whole |\n",
                  "core/base/check.h": "", "core/list/a.cc": "", "core/engine/a.h": ""}
        self.check(rules.check_rooms,
                   {**tables, "core/list/list.cc": '#include "core/engine/a.h"\n'},
                   {**tables, "core/engine/e.cc": '#include "core/list/list.h"\n'})
        self.check(rules.check_rooms, {**tables, "core/new/a.cc": ""}, tables)
        self.check(rules.check_rooms,
                   {**tables, "core/README.md": tables["core/README.md"] + "| `gone/` | what |\n"},
                   tables)

    def test_loose_files(self):
        self.check(rules.check_loose_files, {"server/new.cc": ""},
                   {"server/run": "", "server/net/new.cc": ""})

    def test_hosted(self):
        self.check(rules.check_hosted,
                   {"server/commands/keys.cc": '#include "server/state/client.h"\n'},
                   {"server/commands/keys.cc": '#include "server/command/command.h"\n',
                    "server/admin/acl.cc": '#include "server/state/client.h"\n'})

    def test_folder_cycles(self):
        self.check(rules.check_folder_cycles,
                   {"core/a/x.h": '#include "core/b/y.h"\n', "core/b/z.h": '#include "core/c/z.h"\n',
                    "core/c/x.cc": '#include "core/a/w.h"\n'},
                   {"core/a/x.h": '#include "core/b/y.h"\n#include "core/c/z.h"\n',
                    "core/b/z.h": '#include "core/c/z.h"\n', "core/c/x.cc": '#include "core/d/w.h"\n'})

    def test_system_includes(self):
        self.check(rules.check_system_includes,
                   {"server/dispatch/session.cc": "#include <asio/ip/tcp.hpp>\n"},
                   {"server/net/connection.cc": "#include <asio/ip/tcp.hpp>\n"})
        self.check(rules.check_system_includes,
                   {"server/aof/manifest.cc": "#include <unistd.h>\n"},
                   {"server/aof/file_system.cc": "#include <unistd.h>\n"})

    def test_core_purity(self):
        for text in ["auto t = std::chrono::steady_clock::now();", "auto t = absl::Now();",
                     "clock_gettime(CLOCK_REALTIME, &t);", "auto t = time(nullptr);",
                     "std::mutex lock;", "#include <thread>", "asio::io_context io;",
                     '#include "server/log/log.h"', "std::cerr << 1;"]:
            with self.subTest(text):
                self.check(rules.check_core_purity, {"core/a.cc": text + "\n"},
                           {"core/a.cc": f"// {text}\n", "server/a.cc": text + "\n"})
        for text in ["absl::LoadTimeZone(name, &zone);", "std::filesystem::path p;",
                     "std::getenv(name);", "#include <filesystem>",
                     '#include "core/tzdata/tzdata_zones.h"']:
            with self.subTest(text):
                self.check(rules.check_core_purity, {"core/a.cc": text + "\n"},
                           {"core/tzdata/a.cc": text + "\n", "server/a.cc": text + "\n"})
        self.assertEqual(self.problems(rules.check_core_purity,
                                       {"core/a.cc": 'f("std::mutex"); now.time(); Time(0);\n'}), [])

    def test_include_cycles(self):
        self.check(rules.check_include_cycles,
                   {"core/a.h": '#include "core/b.h"\n', "core/b.h": '#include "core/c.h"\n',
                    "core/c.h": '#include "core/a.h"\n'},
                   {"core/a.h": '#include "core/b.h"\n#include "core/c.h"\n',
                    "core/b.h": '#include "core/c.h"\n', "core/c.h": ""})

    def test_file_sizes(self):
        self.check(rules.check_file_sizes, {"core/a.cc": "\n" * 601}, {"core/a.cc": "\n" * 600})

    def test_cpp_function_sizes(self):
        def function(head, lines, tail="}"):
            return head + "\n" + "  f('{', \"}\");\n" * (lines - 2) + tail + "\n"

        heads = ["void F() {", "A::A(int x) : x_(x), y_{1} {", "auto F() -> int {",
                 "template <typename T>\nT F() const {", "TEST_CASE(\"a {\") {"]
        for head in heads:
            with self.subTest(head):
                longer = head.count("\n")
                self.check(rules.check_function_sizes,
                           {"core/a.cc": function(head, 70 - longer)},
                           {"core/a.cc": function(head, 69 - longer)})
        in_class = "namespace n {\nclass A {\n" + function("void F() {", 70) + "};\n}\n"
        self.assertEqual(len(self.problems(rules.check_function_sizes, {"core/a.h": in_class})), 1)
        table = function("const int kTable[Size()] = {", 90, "};")
        split = function("void F() {", 60) + function("void G() {", 60)
        for text in [table, split, "class A {\n" + split * 3 + "};\n"]:
            self.assertEqual(self.problems(rules.check_function_sizes, {"core/a.cc": text}), [])

    def test_python_function_sizes(self):
        self.check(rules.check_function_sizes,
                   {"bench/a.py": "def f():\n" + "    pass\n" * 69},
                   {"bench/a.py": "def f():\n" + "    pass\n" * 68})

    def test_anonymous_types(self):
        def tree(name):
            return {"core/x/a.h": "namespace tally {\nclass A {\n};\n}\n",
                    "server/x/b.cc": "namespace {\n\nstruct " + name + " {\n};\n\n}  // namespace\n"}

        self.check(rules.check_anonymous_types, tree("A"), tree("B"))

    def test_times(self):
        self.check(rules.check_times, {"core/x/a.cc": "bool Has(int64_t now);\n"},
                   {"core/x/a.cc": "bool Has(int64_t now_ms, std::optional<int64_t> at_ms);\n"})

    def test_test_namespaces(self):
        def tree(namespace):
            return {"tests/unit/core/a_test.cc": f"namespace tally{namespace} {{\n}}\n"}

        self.check(rules.check_test_namespaces, tree(""), tree("::a_test"))

    def test_headers(self):
        self.check(rules.check_headers, {"core/a.h": "int a;\n"},
                   {"core/a.h": "// What.\n#pragma once\n", "core/a.cc": ""})

    def test_include_paths(self):
        self.check(rules.check_include_paths,
                   {"core/x/a.cc": '#include "a.h"\n', "core/x/a.h": ""},
                   {"core/x/a.cc": '#include "core/x/a.h"\n', "core/x/a.h": ""})

    def test_unfinished(self):
        word = "TO" + "DO"
        self.check(rules.check_unfinished, {"core/a.cc": f"// {word}: more\n"},
                   {"core/a.cc": "// mastodon\n"})

    def test_freed_strings(self):
        self.check(rules.check_freed_strings, {"core/a.cc": "text_ = std::string();\n"},
                   {"core/a.cc": "if (text_ == std::string()) Recycle(text_);\n"})

    def test_targets(self):
        lists = {"CMakeLists.txt": "file(GLOB_RECURSE sources server/*.cc)\n"
                                   "list(REMOVE_ITEM sources bench/d.cc)\n",
                 "tests/CMakeLists.txt": "file(GLOB tests unit/*_test.cc) # unit/c.cc\n"
                                         "add_executable(b ${PROJECT_SOURCE_DIR}/core/b.cc)\n"}
        named = ["server/a/a.cc", "core/b.cc", "tests/unit/c_test.cc"]
        for stray in ["core/c.cc", "tests/unit/c.cc", "tests/unit/a/c_test.cc", "bench/d.cc"]:
            with self.subTest(stray):
                good = {**lists, **dict.fromkeys(named, "")}
                self.check(rules.check_targets, {**good, stray: ""}, good)

    def test_value_headers(self):
        header = "core/list/list.h"
        near = {header: "", "core/list/list.cc": f'#include "{header}"\n',
                **{f"server/{i}.cc": "" for i in range(6)}}
        far = {**near, "server/a.h": f'#include "{header}"\n', "server/1.cc": '#include "server/a.h"\n'}
        self.check(rules.check_value_headers, far, near)


if __name__ == "__main__":
    unittest.main()
