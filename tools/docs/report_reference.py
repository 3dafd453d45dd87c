"""The page about the JSON of a run, from docs/report.schema.json."""

import json


def kind(schema):
    if "enum" in schema:
        return " or ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    types = schema.get("type", "anything")
    return " or ".join(types) if isinstance(types, list) else types


def rows(properties, prefix=""):
    for name, schema in properties.items():
        yield f"| `{prefix}{name}` | {kind(schema)} | {schema.get('description', '')} |"
        if "properties" in schema:
            yield from rows(schema["properties"], f"{prefix}{name}.")
        if "properties" in schema.get("items", {}):
            yield from rows(schema["items"]["properties"], f"{prefix}{name}[].")


def pages(root):
    schema = json.loads((root / "docs" / "report.schema.json").read_text())
    lines = [
        "# JSON of a run\n",
        f"{schema['description']} Tests hold runs to the [JSON Schema](../report.schema.json) behind this page.\n",
        "| field | type | meaning |\n|---|---|---|",
        *rows(schema["properties"]),
        "",
    ]
    yield "reference/report.md", "\n".join(lines)
