"""What NumPy says of files that the library writes, and files by NumPy for the library to read."""

import json
import pathlib
import sys

import numpy as np


def check(folder):
    model = np.load(folder / "model.npz", allow_pickle=False)
    assert model["schema"] == 1, model["schema"]
    assert model["left"].dtype == np.float64 and model["left"].flags["C_CONTIGUOUS"]
    np.testing.assert_array_equal(model["left"], [[1, 2], [3, 4], [5, 6]])
    np.testing.assert_array_equal(model["values"], [10, 0.1])
    np.testing.assert_array_equal(model["right"], [[0.5, -1], [0.25, 1e-300]])
    assert model["row_names"].tolist() == ["alice", "b\u00f6b", "\u6620\u753b \U0001f3ac"], model["row_names"]
    assert model["col_names"].shape == (0,) and model["row_base"] == 0 and model["col_base"] == 1
    assert str(model["preparation"]) == "zscore" and model["offset"] == 3.5 and model["scale"] == 1.25
    assert json.loads(str(model["metadata"])) == {"method": "fwua", "title": "\u00e9t\u00e9"}
    zero = np.load(folder / "zero.npz", allow_pickle=False)
    assert zero["left"].shape == (4, 0) and zero["right"].shape == (3, 0) and zero["values"].shape == (0,)
    np.testing.assert_array_equal(np.load(folder / "rows.npy"), [[1, 2, 3], [4, 5, 6]])
    np.testing.assert_array_equal(np.load(folder / "columns.npy"), [[1, 2, 3], [4, 5, 6]])


def write(folder):
    matrix = np.array([[1, 2, 3], [4, 5, 6]])
    for name in ("f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"):
        np.save(folder / f"{name}_c.npy", matrix.astype(name))
        np.save(folder / f"{name}_f.npy", np.asfortranarray(matrix.astype(name)))
    np.save(folder / "be_f8_c.npy", matrix.astype(">f8"))
    np.save(folder / "be_f8_f.npy", np.asfortranarray(matrix.astype(">f8")))
    np.save(folder / "bool.npy", np.array([[True, False], [False, True]]))
    for version in (2, 3):
        with open(folder / f"v{version}.npy", "wb") as file:
            np.lib.format.write_array(file, matrix.astype("f8"), version=(version, 0))
    np.save(folder / "object.npy", np.array([[1, "a"], [None, 2]], dtype=object), allow_pickle=True)
    np.save(folder / "complex.npy", matrix.astype("c16"))
    # The arrays that scipy.sparse.save_npz stores.
    csr = {
        "format": b"csr",
        "shape": (3, 3),
        "data": np.array([0.0, 7, 8, 9]),
        "indices": np.array([0, 1, 2, 1], dtype="i4"),
        "indptr": np.array([0, 2, 3, 4], dtype="i4"),
    }
    np.savez(folder / "csr.npz", **csr)
    np.savez_compressed(folder / "csr_compressed.npz", **csr)
    np.savez(
        folder / "csr_int64.npz",
        **{
            **csr,
            "indices": csr["indices"].astype("i8"),
            "indptr": csr["indptr"].astype("i8"),
            "data": csr["data"].astype("f4"),
        },
    )
    np.savez_compressed(
        folder / "csc.npz",
        format=b"csc",
        shape=(3, 3),
        data=np.array([0.0, 7, 9, 8]),
        indices=np.array([0, 0, 2, 1], dtype="i4"),
        indptr=np.array([0, 1, 3, 4], dtype="i4"),
    )
    np.savez_compressed(
        folder / "coo.npz",
        format=b"coo",
        shape=(3, 3),
        data=np.array([9, 0, 8, 7], dtype="i2"),
        row=np.array([2, 0, 1, 0], dtype="i4"),
        col=np.array([1, 0, 2, 1], dtype="i4"),
    )


if __name__ == "__main__":
    {"check": check, "write": write}[sys.argv[1]](pathlib.Path(sys.argv[2]))
