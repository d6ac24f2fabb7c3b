"""Induction heads: which heads attend to the token that followed an earlier occurrence?"""

from pages.shared.views import analysis_page

analysis_page.show("induction")
