# SPDX-License-Identifier: Apache-2.0
"""One query of bench/mapreduce/run.py: peer.py duckdb|polars|pyspark CASE FILE THREADS MEMORY_MB FOLDER [PLACES]

Prints the number of different keys, the number of pairs, wall and processor seconds of the query: from the file to the complete
result in memory. Importing the library is not counted, nor is the start of Spark with a first job of one row, whose wall seconds
are printed before: "started SECONDS". Spark's processor seconds are those of its Java process and of this one.
"""
import os
import sys
import time

engine, case, path, threads, memory_mb, folder = sys.argv[1:7]
places = sys.argv[7] if len(sys.argv) > 7 else ""
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
    # As apps/geo-location/places.h: cells of half a degree; the nearest place of nine cells, in whole numbers.
    "geo": f"""WITH place AS (SELECT name || ', ' || country AS name, lat, lon, (lat + 9000000) // 50000 AS r,
                 (lon + 18000000) // 50000 % 720 AS c FROM
                 (SELECT column01 AS name, column08 AS country, round(column04 * 100000)::BIGINT AS lat, round(column05 * 100000)::BIGINT AS lon
                  FROM read_csv('{places}', header=false, auto_detect=false, delim='\t', quote='', escape='', strict_mode=false,
                  columns={{{", ".join(f"'column{i:02}': '{'DOUBLE' if i in (4, 5) else 'VARCHAR'}'" for i in range(19))}}}))),
               article AS (SELECT number, lat, lon, (lat + 9000000) // 50000 AS r, (lon + 18000000) // 50000 % 720 AS c,
                 round(cos(radians(((lat + 9000000) // 50000 + 0.5) / 2 - 90)) * 32768)::BIGINT AS scale FROM
                 (SELECT * FROM (SELECT row_number() OVER () AS number, trunc(lat::DECIMAL(18,9) * 100000)::BIGINT AS lat,
                  trunc(lon::DECIMAL(18,9) * 100000)::BIGINT AS lon FROM read_csv('{path}', header=false, auto_detect=false, delim='\t', quote='',
                  escape='', columns={{'language': 'VARCHAR', 'title': 'VARCHAR', 'lat': 'VARCHAR', 'lon': 'VARCHAR'}}))
                  WHERE abs(lat) <= 9000000 AND abs(lon) <= 18000000)),
               around AS (SELECT number, lat, lon, scale, r + dr AS r, (c + dc + 720) % 720 AS c
                 FROM article, (SELECT unnest([-1, 0, 1]) AS dr), (SELECT unnest([-1, 0, 1]) AS dc)),
               nearest AS (SELECT number, arg_min(name, (place.lat - a.lat) ** 2 +
                   ((least(abs(place.lon - a.lon), 36000000 - abs(place.lon - a.lon)) * scale) >> 15) ** 2) AS name
                 FROM around a JOIN place USING (r, c) GROUP BY number)
               SELECT coalesce(name, floor(lat / 100000.0)::INT || ', ' || floor(lon / 100000.0)::INT) AS place, list(number) AS citations
               FROM article LEFT JOIN nearest USING (number) GROUP BY place""",
}


def by_duckdb():
    import duckdb
    connection = duckdb.connect(config={"threads": int(threads), "memory_limit": f"{memory_mb}MB", "temp_directory": folder})
    start = time.perf_counter(), time.process_time()
    connection.execute(f"CREATE TEMP TABLE result AS {SQL[case]}")
    seconds = time.perf_counter() - start[0], time.process_time() - start[1]
    pairs = "sum(len(citations))" if case in ("patent", "geo") else "sum(n)"
    return *map(int, connection.execute(f"SELECT count(*), {pairs} FROM result").fetchone()), seconds


def locate(polars):
    """(place, articles) of Geo Location, as the SQL above."""
    col, lit, whole = polars.col, polars.lit, polars.Int64
    cells = [((col("lat") + 9000000) // 50000).alias("r"), ((col("lon") + 18000000) // 50000 % 720).alias("c")]
    columns = ["id", "name", "ascii", "names", "lat", "lon", "class", "code", "country", *(f"rest{i}" for i in range(10))]
    place = polars.read_csv(places, separator="\t", has_header=False, quote_char=None,
                            schema={name: polars.String for name in columns}).lazy().select(
        (col("name") + ", " + col("country")).alias("name"),
        *[(col(to).cast(polars.Float64) * 100000).round().cast(whole).alias(to) for to in ("lat", "lon")])
    place = place.with_columns(*cells).rename({"lat": "to_lat", "lon": "to_lon"})
    article = polars.scan_csv(path, separator="\t", has_header=False, quote_char=None, infer_schema=False,
                              new_columns=["language", "title", "lat", "lon"]).with_row_index("number").select(
        (col("number") + 1).cast(whole).alias("number"),
        *[(col(to).cast(polars.Decimal(18, 9)).cast(polars.Float64) * 100000 + polars.when(col(to).str.starts_with("-"))
           .then(lit(-1e-4)).otherwise(lit(1e-4))).cast(whole).alias(to) for to in ("lat", "lon")])
    article = article.filter(col("lat").abs() <= 9000000, col("lon").abs() <= 18000000).with_columns(*cells).with_columns(
        ((((col("r") + 0.5) / 2 - 90).radians().cos()) * 32768).round().cast(whole).alias("scale"))
    around = polars.concat([article.with_columns(col("r") + dr, (col("c") + dc + 720) % 720) for dr in (-1, 0, 1) for dc in (-1, 0, 1)])
    away = (col("to_lon") - col("lon")).abs()
    east = polars.min_horizontal(away, 36000000 - away) * col("scale") // 32768
    nearest = around.join(place, on=["r", "c"]).select(
        "number", "name", ((col("to_lat") - col("lat")) ** 2 + east ** 2).alias("distance")).group_by("number").agg(
        col("name").sort_by("distance").first())
    degrees = [((col(to) + 18000000) // 100000 - 180).cast(polars.String) for to in ("lat", "lon")]
    return article.join(nearest, on="number", how="left").with_columns(
        polars.coalesce(col("name"), degrees[0] + ", " + degrees[1]).alias("place")).group_by("place").agg("number").collect(
        engine="streaming")


def by_polars():
    import polars
    start = time.perf_counter(), time.process_time()
    if case == "geo":
        table = locate(polars)
    elif case == "patent":
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
    if case in ("patent", "geo"):
        return table.height, int(table["citing" if case == "patent" else "number"].list.len().sum()), seconds
    return table.height, int(table["len"].sum()), seconds


def processor_seconds_of(pid):
    """So far: user and system."""
    with open(f"/proc/{pid}/stat", encoding="utf8") as file:
        fields = file.read().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def by_pyspark():
    """A DataFrame job on local[THREADS]; MEMORY_MB is the limit of Java's heap."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession, functions as f
    start = time.perf_counter()
    spark = (SparkSession.builder.master(f"local[{threads}]").config("spark.driver.memory", f"{memory_mb}m")
             .config("spark.ui.enabled", "false").config("spark.log.level", "OFF").config("spark.ui.showConsoleProgress", "false")
             .config("spark.local.dir", folder).config("spark.sql.shuffle.partitions", threads).getOrCreate())
    spark.range(1).count()
    java = spark._jvm.java.lang.ProcessHandle.current().pid()
    print(f"started {time.perf_counter() - start}")
    start = time.perf_counter(), time.process_time() + processor_seconds_of(java)
    lines = spark.read.option("lineSep", "\n").text(path)
    if case == "wordcount":
        keys = lines.select(f.explode(f.regexp_extract_all(f.lower("value"), f.lit("[a-z]+"), f.lit(0))).alias("key"))
    else:
        keys = lines.select(f.regexp_extract("value", URL, 1).alias("key")).where("key <> ''")
    table = keys.groupBy("key").count().toArrow()
    seconds = time.perf_counter() - start[0], time.process_time() + processor_seconds_of(java) - start[1]
    spark.stop()
    return table.num_rows, sum(table["count"].to_pylist()), seconds


engines = {"duckdb": by_duckdb, "polars": by_polars, "pyspark": by_pyspark}
keys, pairs, (wall_s, processor_s) = engines[engine]()
print(keys, pairs, wall_s, processor_s)
