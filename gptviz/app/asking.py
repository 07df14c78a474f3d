"""Asking a person for something that is there to be opened."""

from PySide6.QtWidgets import QFileDialog, QWidget


def file_to_open(window: QWidget, title: str, place: str, kinds: str) -> str:
    """Return the path of the file that a person chooses, or nothing."""
    path, _ = QFileDialog.getOpenFileName(window, title, place, kinds)
    window.activateWindow()  # without a window manager nobody else gives the keyboard back
    return path


def folder_to_open(window: QWidget, title: str, place: str) -> str:
    """Return the path of the folder that a person chooses, or nothing."""
    path = QFileDialog.getExistingDirectory(window, title, place)
    window.activateWindow()
    return path
