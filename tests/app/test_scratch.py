from pathlib import Path
import numpy as np, pytest, torch, csv
from PySide6.QtCore import Qt, QPoint
from PySide6.QtGui import QImage
from pypdf import PdfReader
from user import CONTROL, SHIFT, User

def test_nan(user, qtbot, tmp_path):
    w = user.window; s = w.session
    with torch.no_grad():
        s.model.trf_blocks[1].norm2.scale.fill_(float("nan"))
    user.runs("Hello, I am")
    print("run", s.state.message)
    write = w.actions_.exporting.write
    for k in ("pdf", "safetensors"):
        write(k, tmp_path / f"x.{k}", w.docks["stage"]); user.waits()
        print(k, s.state.notice, s.state.message)
    print([" ".join(p.extract_text().split())[:300] for p in PdfReader(tmp_path/"x.pdf").pages[-2:]])
    s.select_stage("out_head"); user.waits()
    for n in [*w.docks]:
        for k in ("png", "svg", "csv"):
            if k == "csv" and not w.docks[n].has_table: continue
            s.change(message=None, notice="")
            write(k, tmp_path / f"{n}.{k}", w.docks[n])
            try: qtbot.waitUntil(lambda: (s.state.message is not None or "written to" in s.state.notice), timeout=12000)
            except Exception: print(n, k, "NEVER", w.docks[n].is_in_sight, s.turns.pending, s.watched, s.measuring.unfinished, s.labs.pending, w.docks[n].isHidden()); break
            user.waits()
            if s.state.message: print(n, k, s.state.message)
    print(list(csv.reader((tmp_path/"next-token.csv").open()))[:3], list(csv.reader((tmp_path/"checks.csv").open()))[:3])

def test_live(user, qtbot, tmp_path):
    w = user.window; s = w.session
    s.live.start() if hasattr(s.live, "start") else print([x for x in dir(s.live) if not x.startswith("_")][-20:])
    qtbot.waitUntil(lambda: s.state.held is not None, timeout=5000)
    write = w.actions_.exporting.write
    for n in ("shape-trace", "stage", "attention", "next-token", "checks", "heads", "lens"):
        for k in ("png", "csv"):
            if k == "csv" and not w.docks[n].has_table: continue
            s.change(message=None, notice="")
            write(k, tmp_path / f"{n}.{k}", w.docks[n])
            try: qtbot.waitUntil(lambda: (s.state.message is not None or "written to" in s.state.notice), timeout=14000)
            except Exception as e: print(n, k, "NEVER", s.state.notice)
            print(n, k, s.state.message, s.state.notice[:60])
    for k in ("pdf", "npy"):
        write(k, tmp_path / f"x.{k}", w.docks["stage"]); print(k, s.state.message)
    print("held still", s.state.held is not None)
    s.cancel(); user.waits()

def test_play_and_export(user, qtbot, tmp_path):
    w = user.window; s = w.session
    s.loop.play(30)
    write = w.actions_.exporting.write
    for i, n in enumerate(("attention", "next-token", "generation", "shape-trace", "stage")):
        s.change(message=None, notice="")
        write("png", tmp_path / f"{n}.png", w.docks[n])
        qtbot.waitUntil((tmp_path / f"{n}.png").exists, timeout=14000)
        print(n, len(s.state.generation.steps), s.state.generation.playing)
    write("pdf", tmp_path / "x.pdf", w.docks["stage"]); print(s.state.message)
    user.waits()

def test_close_mid(user, qtbot, tmp_path):
    w = user.window; s = w.session
    pages = []
    s.exporting.page_wanted.connect(lambda *_: pages.append(1))
    w.actions_.exporting.write("pdf", tmp_path / "s.pdf", w.docks["stage"])
    s.select_stage("out_head")
    w.actions_.exporting.write("csv", tmp_path / "s.csv", w.docks["stage"])
    w.actions_.exporting.write("png", tmp_path / "s.png", w.docks["heads"])
    qtbot.waitUntil(lambda: len(pages) >= 2)
    w.close(); s.close()
    qtbot.wait(100)
    print(list(tmp_path.iterdir()))

def test_mid_pdf_changes(user, qtbot, tmp_path):
    w = user.window; s = w.session
    pages = []
    s.exporting.page_wanted.connect(lambda *_: pages.append(1))
    w.actions_.exporting.write("pdf", tmp_path / "s.pdf", w.docks["stage"])
    qtbot.waitUntil(lambda: len(pages) >= 5)
    w.appearance.set_scheme("dark"); w.appearance.set_lecture(True)
    qtbot.waitUntil(lambda: len(pages) >= 10)
    s.select_stage("trf_blocks.1.att.weights", head=1)
    qtbot.waitUntil(lambda: len(pages) >= 20)
    s.set_prompt("Something else")
    user.waits()
    w.appearance.set_scheme("light"); w.appearance.set_lecture(False)
    print(s.state.notice, s.state.message)
    r = PdfReader(tmp_path/"s.pdf")
    print(len(r.pages), {" ".join(p.extract_text().split())[-60:].split(" ·")[0][-20:] for p in r.pages})
    import subprocess
    subprocess.run(["pdftoppm","-r","20","-png",str(tmp_path/"s.pdf"),"/tmp/breakexport/mid"])
