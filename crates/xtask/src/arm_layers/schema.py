"""A trace of `tuff run --trace` by Perfetto's published schema (PyPI's perfetto). In a process of its own: lglpy has an older schema
of the same names.

Usage: schema.py TRACE. Prints JSON: the fields of the trace that the schema lacks, each once.
"""

import json
import sys

from google.protobuf import unknown_fields
from perfetto.protos.perfetto.trace import perfetto_trace_pb2


def unknown(message, path):
    for field in unknown_fields.UnknownFieldSet(message):
        yield f'{path}.{field.field_number}'
    for field, value in message.ListFields():
        if field.message_type:
            for part in value if hasattr(value, 'append') else [value]:
                yield from unknown(part, f'{path}.{field.name}')


trace = perfetto_trace_pb2.Trace()
with open(sys.argv[1], 'rb') as file:
    trace.ParseFromString(file.read())
assert trace.IsInitialized() and trace.packet
json.dump(sorted(set(unknown(trace, 'Trace'))), sys.stdout)
