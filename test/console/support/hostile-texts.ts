// Texts that would run a script, load a resource, or change the page, if a page inserted them as HTML, as a URL, as a
// style, or into a script. Each one calls `hit()`, which the tests define and count, or loads `/hit`.

const inElements = [
  '<script>hit()</script>',
  '<ScRiPt>hit()</sCrIpT>',
  '<script src=/hit></script>',
  '<script>hit()',
  '<<script>hit();//<</script>',
  '<script/x>hit()</script>',
  '<script type="module">hit()</script>',
  '</script><script>hit()</script>',
  '</title><script>hit()</script>',
  '</textarea><script>hit()</script>',
  '</style><script>hit()</script>',
  '</option></select><script>hit()</script>',
  '<noscript><p title="</noscript><img src=x onerror=hit()>">',
  '<template><script>hit()</script></template>',
  '<svg><script>hit()</script></svg>',
  '<svg><script href="data:,hit()"/></svg>',
  '<math><mtext><script>hit()</script></mtext></math>',
  '<iframe src="javascript:parent.hit()"></iframe>',
  '<iframe srcdoc="<script>parent.hit()</script>"></iframe>',
  '<object data="javascript:hit()"></object>',
  '<embed src="javascript:hit()">',
  '<base href="/hit/">',
  '<meta http-equiv="refresh" content="0;url=/hit">',
  '<link rel="stylesheet" href="/hit">',
  '<link rel="import" href="/hit">',
  '<style>@import "/hit";</style>',
  '<style>*{background:url(/hit)}</style>',
  '<form action="/hit"><button autofocus>Sign in</button></form>',
  '<form id=f action=/hit></form><button form=f>go</button>',
  '<plaintext>',
  '<!--<img src="--><img src=x onerror=hit()//">',
  '<![CDATA[<script>hit()</script>]]>',
  '<xss id=x tabindex=1 onfocus=hit()></xss>',
] as const;

const inHandlers = [
  '<img src=x onerror=hit()>',
  '<img src=/hit>',
  '<img src=x:x onerror="hit()">',
  '<IMG SRC=x OnErRoR=hit()>',
  '<img/src=x/onerror=hit()>',
  '<img src=x onerror=hit()//',
  '<img src="x` `<script>hit()</script>"` `>',
  '<image src=x onerror=hit()>',
  '<svg onload=hit()>',
  '<svg/onload=hit()>',
  '<svg><animate onbegin=hit() attributeName=x dur=1s>',
  '<svg><set attributeName=onmouseover to=hit()>',
  '<svg><a xlink:href="javascript:hit()"><text y=20>x</text></a></svg>',
  '<svg><use href="data:image/svg+xml,<svg id=x onload=hit()></svg>#x"/></svg>',
  '<body onload=hit()>',
  '<body onpageshow=hit()>',
  '<input autofocus onfocus=hit()>',
  '<select autofocus onfocus=hit()>',
  '<textarea autofocus onfocus=hit()>',
  '<details open ontoggle=hit()>',
  '<video><source onerror=hit()></video>',
  '<audio src=x onerror=hit()>',
  '<video poster=/hit></video>',
  '<marquee onstart=hit()>',
  '<dialog open onclose=hit()>',
  '<p style="animation:x" onanimationstart=hit()>',
  '<div onpointerover=hit()>over</div>',
  '<button popovertarget=x>x</button><p popover id=x onbeforetoggle=hit()>',
] as const;

const inAttributes = [
  '" onmouseover="hit()',
  "' onmouseover='hit()",
  '"><script>hit()</script>',
  "'><script>hit()</script>",
  '"><img src=x onerror=hit()>',
  '" autofocus onfocus=hit() x="',
  "' autofocus onfocus=hit() x='",
  '` onmouseover=`hit()',
  '" style="background:url(/hit)',
  '/><svg onload=hit()>',
  'x onerror=hit()',
  '"/hit" srcset="/hit 1x',
] as const;

const inScripts = [
  "';hit();//",
  '";hit();//',
  '`;hit();//',
  '${hit()}',
  '{{hit()}}',
  '{{constructor.constructor("hit()")()}}',
  '<%= hit() %>',
  '#{hit()}',
  '\\u003cscript\\u003ehit()\\u003c/script\\u003e',
  '\\";hit();//',
  '-hit()-',
  '__proto__',
  'constructor',
  '{"__html":"<img src=x onerror=hit()>"}',
  '{"dangerouslySetInnerHTML":{"__html":"<img src=x onerror=hit()>"}}',
  '&lt;script&gt;hit()&lt;/script&gt;',
  '&#60;script&#62;hit()&#60;/script&#62;',
  '%3Cscript%3Ehit()%3C/script%3E',
  '＜script＞hit()＜/script＞',
  '+ADw-script+AD4-hit()+ADw-/script+AD4-',
] as const;

const asAddresses = [
  'javascript:hit()',
  'JaVaScRiPt:hit()',
  'java&Tab;script:hit()',
  'data:text/html,<script>hit()</script>',
  'vbscript:hit()',
  '//evil.invalid/hit',
  '\\\\evil.invalid\\hit',
  'https://evil.invalid/hit',
  '../../../console/auth/sign-out',
  '?return_to=//evil.invalid',
  '#"><img src=x onerror=hit()>',
] as const;

const asText = ['=HYPERLINK("//evil.invalid/hit")', '@SUM(1+1)*cmd|hit', 'gro.\u202etpircs'] as const;

/** Takes one text of each kind in turn, so that the beginning of the list also contains all kinds. */
function mixed(...kinds: readonly (readonly string[])[]): string[] {
  const longest = Math.max(...kinds.map(({ length }) => length));
  return Array.from({ length: longest }, (_, n) => kinds.flatMap((kind) => kind.slice(n, n + 1))).flat();
}

export const hostileTexts: readonly string[] = mixed(
  inHandlers,
  inElements,
  inAttributes,
  inScripts,
  asAddresses,
  asText,
);
