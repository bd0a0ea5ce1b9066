"""Writes the names of the IDL's fields as a C++ table: the wire has numbers, but messages name the field.

usage: field_names.py OUTPUT FILE.json...     (each made by `thrift --gen json`)

Rows are {owner, number, name, type}: the owner is a struct, or a method as "method()"; the type is the
struct in the field (or in its list or map), or "". A second table names the service of each method.
"""
import json
import sys


def struct_in(field):
    """The struct behind a field, a list's elements or a map's values; "" when there is none."""
    kind = field.get("typeId") or ""
    inner = field.get("type", field)
    if kind in ("struct", "exception", "union"):
        return inner["class"].split(".")[-1]
    if kind in ("list", "set"):
        return struct_in({"typeId": inner["elemTypeId"], "type": inner.get("elemType", {})})
    if kind == "map":
        return struct_in({"typeId": inner["valueTypeId"], "type": inner.get("valueType", {})})
    return ""


def main(output, files):
    fields, methods = {}, {}
    for name in files:
        with open(name, encoding="utf-8") as file:
            idl = json.load(file)
        for struct in idl["structs"]:
            for field in struct["fields"]:
                fields[struct["name"], field["key"]] = (field["name"], struct_in(field))
        for service in idl["services"]:
            for function in service["functions"]:
                methods[function["name"]] = service["name"]
                for field in function["arguments"]:
                    fields[function["name"] + "()", field["key"]] = (field["name"], struct_in(field))
    with open(output, "w", encoding="utf-8") as out:
        out.write("// Made of the IDL by thrift/field_names.py.\nconstexpr FieldName kFields[] = {\n")
        for (owner, number), (name, kind) in sorted(fields.items()):
            out.write(f'    {{"{owner}", {number}, "{name}", "{kind}"}},\n')
        out.write("};\nconstexpr MethodName kMethods[] = {\n")
        for method, service in sorted(methods.items()):
            out.write(f'    {{"{method}", "{service}"}},\n')
        out.write("};\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
