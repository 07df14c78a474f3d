"""The one door to pyqtgraph, which sets its options. Importing it takes long: not before the first paint."""

import pyqtgraph as pg

pg.setConfigOptions(imageAxisOrder="row-major", antialias=True, mouseRateLimit=0)

__all__ = ["pg"]
