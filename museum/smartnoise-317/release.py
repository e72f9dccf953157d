import pandas as pd
from opendp.smartnoise.metadata.collection import CollectionMetadata, Float, Int, Table
from opendp.smartnoise.sql import PandasReader, PrivateReader

SIZE = 10
columns = [Int("person", is_key=True), Float("duration")]
table = Table(schema="db", name="t", rowcount=SIZE, columns=columns, max_ids=1)
metadata = CollectionMetadata([table], "pandas")


def function(durations):
    """Return the sum; None where the library refuses to sum a column without bounds, as the repaired release does."""
    frame = pd.DataFrame({"person": range(SIZE), "duration": [float(one) for one in durations]})
    reader = PandasReader(df=frame, metadata=metadata)
    private = PrivateReader(reader=reader, metadata=metadata, epsilon_per_column=1.0, delta=1e-5)
    try:
        return float(private.execute("SELECT SUM(duration) AS total FROM db.t")[1][0])
    except ValueError:
        return None
