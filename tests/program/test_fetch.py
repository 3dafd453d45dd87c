"""experiments/fetch.py: downloads from a server of this test's own, verified by checksum."""

import functools
import hashlib
import http.server
import io
import json
import threading
import zipfile

from paper_data import lines, ratings, zipped
from support import ProgramTest


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class FetchTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.served = self.folder / "served"
        self.served.mkdir()
        handler = functools.partial(QuietHandler, directory=str(self.served))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        thread = threading.Thread(target=self.server.serve_forever)
        thread.start()
        self.addCleanup(lambda: (self.server.shutdown(), thread.join(), self.server.server_close()))
        self.mirror = f"http://127.0.0.1:{self.server.server_port}"

    def fetch(self, code, *arguments, says=()):
        done = self.run_script("fetch.py", *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        for words in [says] if isinstance(says, str) else says:
            self.assertIn(words, done.stderr)

    def declare(self, sha256, **more):
        one = {"name": "small", "title": "a small set", "files": ["small.zip"], "url": self.mirror + "/small.zip",
               "saved_as": "small.zip", "sha256": sha256, "publisher": "this test", **more}  # fmt: skip
        self.write("sets.json", json.dumps({"datasets": [one]}))

    def test_download_is_verified_and_named(self):
        text = lines(ratings(20, 15, 1), "::")
        (self.served / "small.zip").write_bytes(zipped("small/ratings.dat", text))
        self.declare(hashlib.sha256((self.served / "small.zip").read_bytes()).hexdigest())
        self.fetch(0, "small", "--data", "data", "--datasets", "sets.json", says="checksum right")
        self.assertEqual([p.name for p in (self.folder / "data").iterdir()], ["small.zip"])
        run = self.run_json("complete", "data/small.zip", "--radius", 10, "--iterations", 5)
        self.assertEqual(run["rows"], 20)
        self.fetch(0, "all", "--data", "data", "--datasets", "sets.json", says="there already")

    def test_checksum_of_the_content(self):
        text = lines(ratings(20, 15, 1), "\t")
        (self.served / "small.zip").write_bytes(zipped("small/u.data", text))
        self.declare(hashlib.sha256(text.encode()).hexdigest(), of="content", member="small/u.data")
        self.fetch(0, "small", "--data", "data", "--datasets", "sets.json", "--quiet")
        self.assertTrue((self.folder / "data" / "small.zip").exists())

    def test_a_mirror_adds_another_member(self):
        """The program would read the first ratings of an archive, whichever was verified."""
        text = lines(ratings(20, 15, 1), "\t")
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("other/u.data", "1\t1\t5\n")
            archive.writestr("small/u.data", text)
        (self.served / "small.zip").write_bytes(packed.getvalue())
        self.declare(hashlib.sha256(text.encode()).hexdigest(), of="content", member="small/u.data")
        self.fetch(3, "small", "--data", "data", "--datasets", "sets.json", says="not what it should be")
        self.assertEqual(list((self.folder / "data").iterdir()), [])
        (self.served / "small.zip").write_bytes(zipped("small/u.data", text))
        self.fetch(0, "small", "--data", "data", "--datasets", "sets.json")
        with zipfile.ZipFile(self.folder / "data" / "small.zip") as kept:
            self.assertEqual(kept.namelist(), ["small/u.data"])
            self.assertEqual(kept.read("small/u.data").decode(), text)

    def test_wrong_bytes_leave_nothing(self):
        (self.served / "ml-1m.zip").write_bytes(zipped("ml-1m/ratings.dat", "1::1::5::0\n"))
        self.fetch(3, "ml-1m", "--data", "data", "--mirror", self.mirror, says=["ml-1m", "SHA-256"])
        self.assertEqual(list((self.folder / "data").iterdir()), [])

    def test_damaged_file_is_noticed(self):
        (self.folder / "data").mkdir()
        (self.folder / "data" / "ml-10m.zip").write_text("not it")
        self.fetch(3, "ml-10m", "--data", "data", says="remove it and fetch it again")

    def test_missing_on_the_server(self):
        self.fetch(3, "ml-100k", "--data", "data", "--mirror", self.mirror, says="the download of")
        self.assertEqual(list((self.folder / "data").iterdir()), [])

    def test_usage(self):
        self.fetch(2, "ml-2m", "--data", "data", says=["ml-2m", "ml-100k", "ego-facebook"])
        self.fetch(2, "netflix-tenth", "--data", "data", says="nobody publishes it")
        self.fetch(3, "x", "--data", "data", "--datasets", "none.json", says="none.json")
        self.write("file", "")
        self.fetch(3, "ml-100k", "--data", "file/data", says=["--data", "file/data"])
        self.write("broken.json", "{")
        self.fetch(3, "x", "--data", "data", "--datasets", "broken.json", says="broken.json")


if __name__ == "__main__":
    import unittest

    unittest.main()
