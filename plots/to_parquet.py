#!/usr/bin/env python3
"""Writes a table of `tidemark results` as Parquet.

    plots/to_parquet.py columns.json -o results.parquet

Reads [{"name", "is_number", "values"}...], as `tidemark results --format parquet` gives it. Needs pyarrow."""

import argparse
import json
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("columns")
    parser.add_argument("-o", "--output", required=True)
    args = parser.parse_args()
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as missing:
        sys.exit(f"plots/to_parquet.py: {missing}")
    with open(args.columns, encoding="utf-8") as file:
        columns = json.load(file)
    kinds = {True: pyarrow.int64(), False: pyarrow.string()}
    table = pyarrow.table([pyarrow.array(column["values"], kinds[column["is_number"]]) for column in columns],
                          names=[column["name"] for column in columns])
    parquet.write_table(table, args.output)


if __name__ == "__main__":
    main()
