export const LIGHT = [
  '#2f6fb7',
  '#d9730d',
  '#2e8b57',
  '#b0468f',
  '#7a6a00',
  '#5b5bd6',
  '#b33a3a',
  '#3b8686',
];
const DARK = [
  '#6ea8e8',
  '#f0a050',
  '#62c48d',
  '#df8cc4',
  '#cdbb4a',
  '#a0a0ff',
  '#ee8a8a',
  '#74c7c7',
];

const colours = (list: readonly string[]): string =>
  list.map((colour, i) => `--c${i}:${colour}`).join(';');
const classes = LIGHT.map(
  (_, i) => `.c${i}{fill:var(--c${i});stroke:var(--c${i});background:var(--c${i})}`,
).join('');

/**
 * The style of the page: system fonts, one column, light or dark colors by the reader's setting.
 */
export const PAGE_STYLE = `
:root{color-scheme:light dark;--bg:#fff;--fg:#1c2024;--soft:#60646c;--line:#e3e5e9;--panel:#f7f8fa;--note:#fff7e0;--note-line:#e8c766;${colours(LIGHT)}}
@media (prefers-color-scheme:dark){:root{--bg:#14171a;--fg:#e7e9ec;--soft:#a0a6ad;--line:#2c3137;--panel:#1c2024;--note:#2a2413;--note-line:#7a6425;${colours(DARK)}}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:76rem;padding:2rem 1.25rem 3rem;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
h1{margin:.1rem 0 .3rem;font-size:1.9rem;line-height:1.2;overflow-wrap:anywhere}
h2{margin:2.4rem 0 .8rem;font-size:1.25rem}
h3{margin:1.6rem 0 .5rem;font-size:1rem}
.kind{margin:0;color:var(--soft);font-size:.8rem;letter-spacing:.06em;text-transform:uppercase}
.facts,.note,footer,figcaption{color:var(--soft);font-size:.875rem}
.facts{margin:0 0 1rem}
.note{margin:.35rem 0 0}
.legend{display:flex;flex-wrap:wrap;gap:.35rem 1.6rem;margin:0;padding:0;list-style:none}
.legend li{display:flex;align-items:center;gap:.5rem;overflow-wrap:anywhere}
.legend span:last-child{color:var(--soft)}
.legend.row{justify-content:center;margin-top:.5rem;font-size:.875rem}
.swatch{flex:none;width:.8rem;height:.8rem;border-radius:3px}
.swatch.tie{background:var(--soft)}
header,.notes{max-width:60rem}
.notes{margin-top:1.6rem;padding:.9rem 1.1rem;border:1px solid var(--note-line);border-radius:8px;background:var(--note)}
.notes h2{margin:0 0 .4rem;font-size:1rem}
.notes ul{margin:0;padding-left:1.1rem}
figure{max-width:60rem;margin:0 0 1rem;padding:1rem 1rem .6rem;border:1px solid var(--line);border-radius:8px;background:var(--panel)}
figcaption{margin-bottom:.6rem}
.plot{display:block;width:100%;height:auto;font:12px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
.plot text{fill:var(--fg);stroke:none}
.plot .tick,.plot .axis{fill:var(--soft)}
.plot .name{font-weight:600;font-size:13px}
.grid,.base{stroke:var(--line);stroke-width:1}
.mean,.median{stroke:var(--fg);stroke-width:1.5}
.threshold{stroke:var(--soft);stroke-dasharray:4 3}
.range{stroke:var(--fg);stroke-width:2}
.pair{fill:var(--fg);stroke:var(--fg);stroke-width:1.5}
.pair.open{fill:var(--panel)}
.bar{stroke:none;fill-opacity:.75}
.whisker{stroke-width:2}
.dot.hollow{fill:var(--panel);stroke-width:2.5}
.frame{fill:none;stroke:var(--line)}
.mix{stroke:none}
.mix.tie{fill:var(--soft)}
.mix.moved{stroke:var(--fg);stroke-width:1.5}
.mark-edge{fill:none;stroke:var(--panel);stroke-width:6}
.mark{fill:none;stroke:var(--fg);stroke-width:2.5}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:8px}
table{width:100%;border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}
th,td{padding:.4rem .7rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}
th{color:var(--soft);font-weight:600;background:var(--panel)}
th:first-child,td:first-child{text-align:left}
tbody tr:last-child td{border-bottom:0}
footer{margin-top:2.5rem;overflow-wrap:anywhere}
${classes}
.bar,.mix{stroke:none}
.mix.moved{stroke:var(--fg)}
.whisker{fill:none}
.dot.hollow{fill:var(--panel)}
.box{fill-opacity:.2;stroke-width:1.5}
.point{fill-opacity:.45;stroke:none}
@media print{body{max-width:none}figure,.scroll{break-inside:avoid}}
`;
