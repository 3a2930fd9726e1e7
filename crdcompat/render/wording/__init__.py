"""Sentences that several presenters share: each is worded once, as plain text without markup or colour."""
