"""Whether a server accepts a CRD at all."""
