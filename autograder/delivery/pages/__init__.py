"""Pages and tables that people read: feedback, reports, portfolios, free text."""
