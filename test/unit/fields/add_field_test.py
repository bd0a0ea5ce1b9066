#!/usr/bin/python3
"""Adds a plain field to a job definition in a copy of the tree, and sees that it works everywhere.

usage: add_field_test.py BUILD_FOLDER [COMPILER]

Edits what CONTRIBUTING says (IDL, struct, row), counts the files, builds the rows' own tests in the copy
(BUILD_FOLDER/added_field) as they are and runs them: wire, stored JSON, fingerprint, ids, checks on both
sides, job files both ways, -o json, schema and table of keys.
exit: 0 it takes three files and works, 1 not
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
KEY = "added_number"
MOST_FILES = 3
COPIED = ["common/base", "common/config", "common/model", "common/wire", "client", "thrift", "test/unit/fields",
          "test/support/main.cpp", "master/core/definition_hash.h", "master/core/definition_hash.cpp"]
# One translation unit: the compiler reads its headers once.
SOURCES = """
common/model/http_call.cpp common/model/names.cpp common/model/retry_text.cpp common/model/route_key.cpp common/model/schedule_text.cpp
common/model/entry_text.cpp common/model/day_text.cpp common/model/entry_rules.cpp common/model/expect.cpp common/model/template_text.cpp
common/wire/calendar_wire.cpp common/wire/calendar_json.cpp
common/wire/text_rules.cpp common/wire/job_names.cpp common/wire/definition_json.cpp common/wire/job_wire.cpp
common/wire/field_rules.cpp common/wire/definition_rules.cpp common/wire/content_hash.cpp
common/wire/run_wire.cpp master/core/definition_hash.cpp
common/config/problems.cpp common/config/yaml_reader.cpp common/config/map_reader.cpp
client/job_file.cpp client/job_reader.cpp client/cleanup_reader.cpp client/retry_reader.cpp client/job_text.cpp client/job_schema.cpp client/job_key_table.cpp
client/schedule_reader.cpp client/schedule_checks.cpp client/calendar_file.cpp client/command/show_json.cpp client/command/node_json.cpp
test/unit/fields/field_rows_test.cpp test/unit/fields/golden_test.cpp
""".split()
IDL = sorted(file.stem for file in (ROOT / "thrift").glob("*.thrift") if file.stem not in ("report", "worker"))
LIBRARIES = ["-lthrift", "-lyaml-cpp", "-lcrypto", "-lfmt"]


def replaced(text, pattern, addition):
    out, count = re.subn(pattern, lambda found: found[1] + addition + found[2], text, count=1, flags=re.S)
    if count != 1:
        raise SystemExit(f"no place for the new field: {pattern}")
    return out


def with_idl(text):
    rules = re.search(r"^struct Rules \{.*?^\}", text, re.S | re.M)[0]
    number = 1 + max(int(each) for each in re.findall(r"^  (\d+):", rules, re.M))
    return text.replace(rules, replaced(rules, r"(.*[^,\n]),?(\n\})", f",\n  {number}: i32 {KEY} = 5"))


def with_member(text):
    return replaced(text, r"(struct JobRules \{.*?)(  bool operator==)", f"  std::int32_t {KEY} = 5;\n")


def with_row(text):
    row = f"""  visit(field<Whole>(ROTA_FIELD({KEY}, {KEY}),
                   {{.key = "{KEY}", .help = "a number of this test", .low = 2, .high = 77}}));
"""
    return replaced(text, r"(for_each_field\(FieldsOf<JobRules>.*?)(\}\n\n)", row)


EDITS = {"thrift/job.thrift": with_idl, "common/model/job.h": with_member, "common/model/job_fields.h": with_row}


def copied(tree):
    """The copy, with the field in it. Files that are right already are left alone."""
    shutil.rmtree(tree, ignore_errors=True)
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name)
        else:
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tree / name)
    for name, edit in EDITS.items():
        (tree / name).write_text(edit((ROOT / name).read_text()))


def generate(tree, folder):
    folder.mkdir(exist_ok=True)
    for name in IDL:
        subprocess.run(["thrift", "--gen", "cpp:no_skeleton,pure_enums=enum_class,moveable_types", "-out", str(folder),
                        f"{tree}/thrift/{name}.thrift"], check=True)


def build(folder, build_folder, compiler):
    """Two objects, made beside each other."""
    includes = "".join(f'#include "tree/{name}"\n' for name in SOURCES)
    (folder / "rows.cpp").write_text("#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN\n#include <doctest/doctest.h>\n" + includes)
    (folder / "types.cpp").write_text("".join(f'#include "gen/{name}_types.cpp"\n' for name in IDL))
    launcher = ["ccache"] if shutil.which("ccache") else []
    command = [*launcher, compiler, "-std=c++20", "-O0", "-DDOCTEST_CONFIG_SUPER_FAST_ASSERTS", "-Itree", "-Igen", "-I.", "-c"]
    started = [subprocess.Popen([*command, f"{name}.cpp", "-o", f"{name}.o"], cwd=folder) for name in ("rows", "types")]
    if any([each.wait() for each in started]):
        raise SystemExit("the copy with one more field does not compile")
    ours = [str(build_folder / "common/base" / name) for name in ("librota_sha256.a", "librota_base_core.a")]
    subprocess.run([compiler, "rows.o", "types.o", *ours, *LIBRARIES, "-o", "rows"], cwd=folder, check=True)


def main(arguments):
    if not arguments or arguments[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 1
    build_folder = Path(arguments[0]).resolve()
    folder = build_folder / "added_field"
    folder.mkdir(exist_ok=True)
    copied(folder / "tree")
    touched = [name for name in EDITS if (folder / "tree" / name).read_text() != (ROOT / name).read_text()]
    generate(folder / "tree", folder / "gen")
    build(folder, build_folder, arguments[1] if len(arguments) > 1 else "g++")
    tested = subprocess.run([folder / "rows"], env={**os.environ, "ROTA_ADDED_KEY": KEY})
    print(f"one more field: {len(touched)} files touched ({', '.join(touched)}), besides docs/jobs.md, which "
          "job_schema_test.py writes")
    return 1 if tested.returncode or len(touched) > MOST_FILES else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
