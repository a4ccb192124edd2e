# SPDX-License-Identifier: Apache-2.0
"""One query of bench/mapreduce/run.py: peer.py duckdb|polars CASE FILE THREADS MEMORY_MB FOLDER

Prints the number of different keys, the number of pairs, wall and processor seconds of the query: from the file to the complete
result in memory. Importing the library is not counted.
"""
import sys
import time

engine, case, path, threads, memory_mb, folder = sys.argv[1:]
URL = r'^[^"]*"[^ "]*[ "]([^ "\r]+)'
LINES = (f"read_csv('{path}', columns={{'line': 'VARCHAR'}}, header=false, auto_detect=false, delim='\x01', quote='', escape='', "
         "strict_mode=false)")
SQL = {
    "wordcount": f"""SELECT word, count(*) AS n FROM (SELECT unnest(regexp_extract_all(lower(line), '[a-z]+')) AS word FROM {LINES})
                     GROUP BY word""",
    "pvc": f"""SELECT url, count(*) AS n FROM (SELECT regexp_extract(line, '{URL}', 1) AS url FROM {LINES}) WHERE url <> ''
               GROUP BY url""",
    "patent": f"""SELECT cited, list(citing) AS citations FROM read_csv('{path}', columns={{'citing': 'UBIGINT', 'cited': 'VARCHAR'}},
                  header=false, auto_detect=false, delim='\t', quote='', escape='') GROUP BY cited""",
}


def by_duckdb():
    import duckdb
    connection = duckdb.connect(config={"threads": int(threads), "memory_limit": f"{memory_mb}MB", "temp_directory": folder})
    start = time.perf_counter(), time.process_time()
    connection.execute(f"CREATE TEMP TABLE result AS {SQL[case]}")
    seconds = time.perf_counter() - start[0], time.process_time() - start[1]
    pairs = "sum(len(citations))" if case == "patent" else "sum(n)"
    return *map(int, connection.execute(f"SELECT count(*), {pairs} FROM result").fetchone()), seconds


def by_polars():
    import polars
    start = time.perf_counter(), time.process_time()
    if case == "patent":
        lines = polars.scan_csv(path, separator="\t", has_header=False, quote_char=None,
                                schema={"citing": polars.UInt64, "cited": polars.String})
        table = lines.group_by("cited").agg("citing").collect(engine="streaming")
    else:
        lines = polars.scan_csv(path, separator="\x01", has_header=False, quote_char=None, schema={"line": polars.String})
        if case == "wordcount":
            keys = lines.select(polars.col("line").str.to_lowercase().str.extract_all("[a-z]+").explode().alias("key"))
        else:
            keys = lines.select(polars.col("line").str.extract(URL, 1).alias("key"))
        table = keys.drop_nulls().group_by("key").len().collect(engine="streaming")
    seconds = time.perf_counter() - start[0], time.process_time() - start[1]
    if case == "patent":
        return table.height, int(table["citing"].list.len().sum()), seconds
    return table.height, int(table["len"].sum()), seconds


keys, pairs, (wall_s, processor_s) = by_duckdb() if engine == "duckdb" else by_polars()
print(keys, pairs, wall_s, processor_s)
