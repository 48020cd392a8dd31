"""Recipes of docs/how-to/predict-tables.md, in functions so that tests can call them."""

from __future__ import annotations

from typing import Any


def with_ray(model: str, rows: str, out: str) -> None:
    # --8<-- [start:ray]
    import ray

    from budgetprune import predict_batches

    def predict(batch: Any) -> Any:
        return next(predict_batches(model, [batch], keep=["key"]))

    dataset = ray.data.read_parquet(rows)
    dataset.map_batches(predict, batch_format="pyarrow", batch_size=65_536).write_parquet(out)
    # --8<-- [end:ray]


def with_dask(model: str, rows: str, out: str) -> None:
    # --8<-- [start:dask]
    import dask.dataframe as dd

    from budgetprune import predict_batches

    def predict(frame: Any) -> Any:
        return next(predict_batches(model, [frame], keep=["key"]))

    frame = dd.read_parquet(rows)
    meta = predict(frame.head(1)).iloc[:0]
    frame.map_partitions(predict, meta=meta).to_parquet(out)
    # --8<-- [end:dask]


def with_spark(spark: Any, model: str, rows: str, out: str) -> None:
    # --8<-- [start:spark]
    from budgetprune import predict_batches

    def predict(frames: Any) -> Any:
        return predict_batches(model, frames, keep=["key"])

    columns = "key long, label long, probability double, cost double, decided boolean, features_used string"
    spark.read.parquet(rows).mapInPandas(predict, columns).write.parquet(out)
    # --8<-- [end:spark]
