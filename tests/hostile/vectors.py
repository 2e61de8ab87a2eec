"""Markup that runs a script as soon as a browser shows it, as data.

`DO` stands for what the script does: it leaves its mark on the page.
"""

import base64

_MARKUP = [
    "<script>DO</script>",
    "<ScRiPt>DO</sCrIpT >",
    "<script/x>DO</script>",
    "<script type=module>DO</script>",
    '<script src="data:text/javascript,DO"></script>',
    "<svg><script>DO</script></svg>",
    '<svg><script href="data:text/javascript,DO"></script></svg>',
    '<img src=x onerror="DO">',
    '<IMG SRC=x OnErRoR="DO">',
    '<img/src=x/onerror="DO">',
    '<image src=x onerror="DO">',
    '<img srcset=x onerror="DO">',
    '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==" '
    'onload="DO">',
    '<img src=x onerror="ENTITIES">',
    "<img src=x onerror=\"eval(atob('BASE64'))\">",
    '<picture><source srcset=x><img onerror="DO"></picture>',
    '<svg onload="DO"></svg>',
    '<svg/onload="DO"></svg>',
    '<svg><image href=x onerror="DO"></image></svg>',
    '<svg><animate attributeName=x dur=1s onbegin="DO"></animate></svg>',
    '<svg><set attributeName=x onbegin="DO"></set></svg>',
    '<svg><animateTransform attributeName=x dur=1s onbegin="DO"></animateTransform></svg>',
    '<svg><foreignObject><img src=x onerror="DO"></foreignObject></svg>',
    '<math><mtext><img src=x onerror="DO"></mtext></math>',
    '<iframe onload="DO"></iframe>',
    '<iframe src="javascript:parent.DO"></iframe>',
    '<iframe srcdoc="<script>parent.DO</script>"></iframe>',
    '<iframe srcdoc="&lt;script&gt;parent.DO&lt;/script&gt;"></iframe>',
    '<details open ontoggle="DO"><summary>x</summary></details>',
    '<video src=x onerror="DO"></video>',
    '<video src=x onloadstart="DO"></video>',
    '<video><source src=x onerror="DO"></video>',
    '<audio src=x onerror="DO"></audio>',
    '<audio src=x onloadstart="DO"></audio>',
    '<object data=x onerror="DO"></object>',
    '<input type=image src=x onerror="DO">',
    '<input autofocus onfocus="DO">',
    '<marquee onstart="DO">x</marquee>',
    '<style onload="DO">i {}</style>',
    '<link rel=stylesheet href="data:text/css,i" onload="DO">',
    '<link rel=stylesheet href=x onerror="DO">',
    '<style>@keyframes x {}</style><i style="animation: x 1s" onanimationstart="DO">x</i>',
    '<noscript><p title="</noscript><img src=x onerror=DO>"></noscript>',
    '<!--><img src=x onerror="DO">-->',
    '<svg></p><style><a id="</style><img src=x onerror=DO>"></svg>',
    '<form><math><mtext></form><form><mglyph><style></math><img src=x onerror="DO">',
    '<p id=x></p><script>import("data:text/javascript,DO")</script>',
    '<body onload="DO">',
    '![x](x"onerror="DO)',
    '[x](<javascript:DO> "x" autofocus)',
]


def _vector(markup: str, number: int) -> str:
    do = f"document.documentElement.setAttribute('data-'+'ran-{number}',1)"
    entities = "".join(f"&#{ord(letter)};" for letter in do)
    code = base64.b64encode(do.encode()).decode()
    return markup.replace("DO", do).replace("ENTITIES", entities).replace("BASE64", code)


VECTORS = [_vector(markup, number) for number, markup in enumerate(_MARKUP)]
