#!/usr/bin/env python3
"""Holds the JSON of runs that the pages made to its schema. Needs the package jsonschema.

Usage: check_schema.py SCHEMA FOLDER
"""

import json
import pathlib
import sys

import jsonschema


def main():
    schema = json.loads(pathlib.Path(sys.argv[1]).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    runs = 0
    for path in sorted(pathlib.Path(sys.argv[2]).rglob("*.json")):
        run = json.loads(path.read_text())
        if not isinstance(run, dict) or "trace" not in run:
            continue
        runs += 1
        for error in validator.iter_errors(run):
            sys.exit(f"{path}: {error.json_path}: {error.message}")
    print(f"{runs} runs are as the schema says")
    return 0 if runs >= 3 else 1


if __name__ == "__main__":
    sys.exit(main())
