"""The version, where every room can ask for it: that of the installed distribution, which its build writes."""

try:
    from crdcompat._version import __version__ as __version__
except ModuleNotFoundError:
    __version__ = "0.1.0"
