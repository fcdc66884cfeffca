"""Runs every function `test_*` of the files beside this folder, two at once, each in a scratch directory of its own."""

import importlib
import inspect
import multiprocessing
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time
import traceback

from playwright.sync_api import sync_playwright

from stage import Stage

TESTS = pathlib.Path(__file__).resolve().parent.parent
AT_ONCE = int(os.environ.get("BROWSER_TESTS_AT_ONCE", "2"))
# Nothing on this computer takes so long. A test that does hangs, and its process is ended.
PATIENCE = int(os.environ.get("BROWSER_TEST_PATIENCE", "240"))


def found(prefixes):
    """Names as file.function."""
    sys.path.insert(0, str(TESTS))
    names = []
    for file in sorted(TESTS.glob("*.py")):
        module = importlib.import_module(file.stem)
        functions = inspect.getmembers(module, inspect.isfunction)
        names += [f"{file.stem}.{name[5:]}" for name, function in functions
                  if name.startswith("test_") and function.__module__ == file.stem]
    wrong = [prefix for prefix in prefixes if not any(name.startswith(prefix) for name in names)]
    if wrong:
        sys.exit(f"there is no test {wrong[0]}")
    return [name for name in names if not prefixes or name.startswith(tuple(prefixes))]


def hung(*_):
    raise TimeoutError(f"it takes longer than {PATIENCE} s")


def tell(name, browser):
    """Runs one test. Returns how it went, in one word and lines."""
    module, function = name.split(".")
    scratch, begin = tempfile.mkdtemp(prefix="photospool-browser."), time.monotonic()
    signal.alarm(PATIENCE)
    stage = Stage(scratch, browser)
    try:
        try:
            getattr(importlib.import_module(module), f"test_{function}")(stage)
            stage.check()
        except Exception:
            stage.keep_pages()
            raise
        finally:
            signal.alarm(0)
            stage.end()
    except Exception as error:
        return "failed", f"FAILED {name}, files in {scratch}\n{explained(error)}"
    shutil.rmtree(scratch, ignore_errors=True)
    return "ok", f"ok {name} ({time.monotonic() - begin:.1f} s)"


def explained(error):
    """Where it came from within the tests, and why."""
    places = [f"{pathlib.Path(frame.filename).name}:{frame.lineno}: {frame.line}"
              for frame in traceback.extract_tb(error.__traceback__)
              if frame.filename.startswith(str(TESTS)) and not frame.filename.endswith("runner.py")]
    why = str(error).splitlines()[:30]
    return "\n".join(f"    {line}" for line in places + [f"{type(error).__name__}:"] + why)


def work(names, results):
    signal.signal(signal.SIGALRM, hung)
    with sync_playwright() as playwright:
        playwright.selectors.set_test_id_attribute("data-test")
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"),
            args=["--no-sandbox"] if os.geteuid() == 0 else [])
        while (name := names.get()) is not None:
            results.put(tell(name, browser))
        browser.close()


def main():
    begin = time.monotonic()
    todo = found(sys.argv[1:])
    names, results = multiprocessing.Queue(), multiprocessing.Queue()
    for name in todo + [None] * AT_ONCE:
        names.put(name)
    workers = [multiprocessing.Process(target=work, args=(names, results)) for _ in range(AT_ONCE)]
    for worker in workers:
        worker.start()
    failed = 0
    for _ in todo:
        while results.empty() and any(worker.is_alive() for worker in workers):
            workers[0].join(0.05)
        if results.empty():
            sys.exit("FAILED: the browser ended")
        word, lines = results.get()
        print(lines, flush=True)
        failed += word == "failed"
    for worker in workers:
        worker.join()
    print(f"{len(todo) - failed} passed, {failed} failed ({time.monotonic() - begin:.0f} s)")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
