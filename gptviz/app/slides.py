"""Painting slides: one page after the other into a PDF, with the widgets that the window has."""

from contextlib import AbstractContextManager

from PySide6.QtCore import QBuffer, QCoreApplication, QEvent, QIODevice, QMarginsF, QPoint, QSizeF, Qt
from PySide6.QtGui import QImage, QPageLayout, QPageSize, QPainter, QPdfWriter
from PySide6.QtWidgets import QLabel, QWidget

from gptviz import __version__
from gptviz.app.pdf_outline import Entry, PdfOutline
from gptviz.app.slide_words import (
    cover_caption,
    cover_facts,
    cover_words,
    entry_of,
    figures_of,
    place_of,
    ranking_rows,
    ranking_words,
    shapes_of,
    step_rows,
    steps_words,
)
from gptviz.app.style import palette, style_sheet
from gptviz.panes.stage_figures import NOUNS, all_narrow, heatmap_data
from gptviz.session.slides import STEPS_A_PAGE, Cover, RankingSlide, ShownTensor, Slide, StageSlide
from gptviz.widgets.matrix_view import MatrixView
from gptviz.widgets.slide_bars import SlideBars
from gptviz.widgets.slide_cover import SlideCover
from gptviz.widgets.slide_frame import HEIGHT, SCALE, WIDTH, SlideFrame
from gptviz.widgets.slide_stage import SlideStage
from gptviz.widgets.text import shape, visible
from gptviz.widgets.theme import Theme, drawn_in, look, set_figures, text_font

_POINTS_A_PX = 0.75
_DOTS = 10  # of the PDF, for each px
_ROWS_A_LIST = STEPS_A_PAGE // 2
_KEPT_IMAGES = 64
_LONGEST = 200  # characters of a prompt at the foot


class SlidePainter:
    """Paints slides in ``theme``: ``show`` lays one out, ``paint`` returns the bytes that its page adds to the file.

    The two are apart so that none of them takes long.
    """

    def __init__(self, theme: Theme, title: str) -> None:
        self._theme = theme
        self._buffer = QBuffer()
        self._buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        self._writer = QPdfWriter(self._buffer)
        size = QPageSize(
            QSizeF(WIDTH, HEIGHT) * _POINTS_A_PX, QPageSize.Unit.Point, "", QPageSize.SizeMatchPolicy.ExactMatch
        )
        self._writer.setPageLayout(QPageLayout(size, QPageLayout.Orientation.Portrait, QMarginsF(0, 0, 0, 0)))
        self._writer.setResolution(round(72 / _POINTS_A_PX * _DOTS))
        self._writer.setTitle(title)
        self._writer.setCreator(f"gptviz {__version__}")
        self._painter = QPainter()
        self._pages = 0
        self._outline, self._entries = PdfOutline(), list[Entry]()
        self._images: dict[bytes, QImage] = {}  # of the last pages: a tensor that comes out goes in on the next one
        self._slide: Slide | None = None  # that is laid out
        self._frame = self._made()

    def _look(self) -> AbstractContextManager[None]:
        return drawn_in(self._theme, SCALE, tabular=False)

    def show(self, slide: Slide) -> None:
        """Lay out a slide."""
        self._entries.append(entry_of(slide))
        self._slide = slide
        self._lay_out(slide)

    def paint(self) -> bytes:
        """Paint what is laid out as one more page."""
        if self._slide is not None and look() != self._window_look:
            self._lay_out(self._slide)
        with self._look():
            if self._pages == 0:
                self._painter.begin(self._writer)
                self._painter.scale(_DOTS, _DOTS)
            else:
                self._writer.newPage()
            self._pages += 1
            self._frame.render(self._painter, QPoint())
        return self._outline.note(self._drain())

    def finish(self) -> bytes:
        """Return what the file ends with."""
        self._painter.end()
        return self._outline.ending(self._drain(), self._entries)

    def close(self) -> None:
        """Let go of the pages' widgets."""
        if self._painter.isActive():
            self._painter.end()
        self._delete_frame()

    # --- inside ------------------------------------------------------------------------------------------

    def _made(self) -> SlideFrame:
        """Make the widgets of the pages. Qt gives all there are the look of the window when that changes."""
        self._window_look = look()
        with self._look():
            frame = SlideFrame()
            self._cover, self._stage = SlideCover(), SlideStage()
            self._ranking = SlideBars("probability", "logit", _ROWS_A_LIST)
            self._steps = SlideBars("probability", "step", _ROWS_A_LIST)
            frame.setPalette(palette(self._theme))
            frame.setFont(text_font())
            frame.setStyleSheet(style_sheet(self._theme))
            for content in (self._cover, self._stage, self._ranking, self._steps):
                frame.add_content(content)
            for part in frame.findChildren(QWidget):  # under a style sheet none has the palette of its parent
                part.setPalette(frame.palette())
            frame.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
            frame.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
            frame.show()
            for view in self._stage.views:
                view.map.share_images(self._images)
            for label in frame.findChildren(QLabel):
                font = label.font()  # a style sheet takes the figures from the application's font
                set_figures(font)
                label.setFont(font)
        return frame

    def _lay_out(self, slide: Slide) -> None:
        if look() != self._window_look:
            self._delete_frame()
            self._frame = self._made()
        with self._look():
            self._fill(slide)

    def _delete_frame(self) -> None:
        self._frame.close()
        self._frame.deleteLater()
        QCoreApplication.sendPostedEvents(self._frame, QEvent.Type.DeferredDelete.value)

    def _drain(self) -> bytes:
        data = bytes(self._buffer.data().data())
        self._buffer.buffer().clear()
        self._buffer.seek(0)
        return data

    def _fill(self, slide: Slide) -> None:
        content = slide.content
        family = content.stage.family.value if isinstance(content, StageSlide) else "head"
        self._frame.setUpdatesEnabled(False)  # all is painted once, when the layout has settled
        self._frame.title.set_title(slide.title, family)
        self._frame.place.setText(place_of(slide))
        self._frame.foot.set_texts(one_line(slide.prompt), slide.model, slide.number, slide.pages, family)
        self._frame.show_content(self._filled(slide))
        for _ in range(2):
            QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
        if isinstance(content, StageSlide):
            for view in self._stage.views:
                view.catch_up()
            while len(self._images) > _KEPT_IMAGES:
                self._images.pop(next(iter(self._images)))
        self._frame.setUpdatesEnabled(True)

    def _filled(self, slide: Slide) -> QWidget:
        """Return the content of a slide."""
        content = slide.content
        if isinstance(content, StageSlide):
            self._fill_stage(slide, content)
            return self._stage
        if isinstance(content, Cover):
            caption, facts = cover_caption(content), cover_facts(content)
            chips = [(piece.text, piece.id) for piece in content.pieces]
            self._cover.show_run(content.prompt, chips, caption, facts, cover_words(content))
            return self._cover
        if isinstance(content, RankingSlide):
            self._ranking.show_rows(*ranking_words(content, ranking_rows(content)))
            return self._ranking
        self._steps.show_rows(*steps_words(content, step_rows(content)))
        return self._steps

    def _fill_stage(self, slide: Slide, content: StageSlide) -> None:
        page = self._stage
        page.sentence.setText(content.text.sentence)
        page.shapes.setText(shapes_of(content))
        page.formula.set_markup(content.text.formula)
        page.figures.set_groups(figures_of(content))
        page.show_tokens(content.chips_caption, content.chips, alone=content.output is None)
        if content.output is None:
            return
        tensors = (*content.inputs, content.output)
        count = len(content.inputs)
        page.figure.arrange(count, False, False, all_narrow(tensor.matrix for tensor in tensors))
        labels = [visible(token) for token in slide.tokens]
        for view, tensor in zip((*page.figure.inputs[:count], page.figure.output), tensors, strict=True):
            _show(view, tensor, labels)


def _show(view: MatrixView, tensor: ShownTensor, labels: list[str]) -> None:
    matrix = tensor.matrix
    if matrix is None:
        view.show_note(tensor.caption, tensor.missing)
        return
    part = f"   {tensor.part}" if tensor.part else ""
    caption = f"{tensor.caption}   {shape(matrix.values.shape)}{part}"
    data, noun = heatmap_data(matrix, tensor.limit, labels), NOUNS[matrix.columns]
    view.show_matrix(caption, data, noun, matrix.columns == "key", matrix.masked)


def one_line(text: str) -> str:
    """Write a text in one line, the beginning of a long one."""
    return "".join(letter if letter == " " else visible(letter) for letter in text[:_LONGEST])
