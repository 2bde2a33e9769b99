import type { Series } from './bench.ts';

// A small chart renderer. For two charts, a charting package would require more maintenance than this file.

export type Chart = {
  readonly title: string;
  readonly x: { readonly label: string; readonly ticks: readonly number[]; readonly isLogarithmic?: boolean };
  readonly y: { readonly label: string };
  readonly format: { readonly x: (value: number) => string; readonly y: (value: number) => string };
  readonly series: readonly Series[];
  /** A reference value, drawn as a dashed line. */
  readonly level?: { readonly name: string; readonly y: number };
};

const width = 720;
const height = 400;
const frame = { left: 80, right: 700, top: 64, bottom: 340 };

/** Mid-tones, which are readable on both light and dark pages. */
const text = '#808890';
const colors = ['#2f81f7', '#e0732c'];

export function drawChart(chart: Chart): string {
  const { series, level } = chart;
  const most = Math.max(...series.flatMap(({ points }) => points.map(({ y }) => y)), level?.y ?? 0);
  const yTicks = niceTicks(most);
  const place = placesOf(chart, yTicks.at(-1) ?? 1);
  const parts = [
    label(frame.left, 28, chart.title, 'font-size="16" font-weight="600"'),
    ...series.map(({ name }, n) => legend(n, name, colors[n] ?? text)),
    ...(level ? [legend(series.length, level.name, text, '6 5')] : []),
    ...yTicks.flatMap((y) => [
      line([frame.left, place.y(y)], [frame.right, place.y(y)], `stroke="${text}" stroke-opacity="0.25"`),
      label(frame.left - 8, place.y(y) + 4, chart.format.y(y), 'text-anchor="end"'),
    ]),
    ...chart.x.ticks.map((x) => label(place.x(x), frame.bottom + 20, chart.format.x(x), 'text-anchor="middle"')),
    label((frame.left + frame.right) / 2, height - 14, chart.x.label, 'text-anchor="middle"'),
    label(
      0,
      0,
      chart.y.label,
      `text-anchor="middle" transform="translate(18 ${(frame.top + frame.bottom) / 2}) rotate(-90)"`,
    ),
    ...(level ? [line([frame.left, place.y(level.y)], [frame.right, place.y(level.y)], broken)] : []),
    ...series.map(({ points }, n) => {
      const at = points.map(({ x, y }): Place => [place.x(x), place.y(y)]);
      return curve(at, colors[n] ?? text);
    }),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" font-family="system-ui, sans-serif" font-size="13" fill="${text}">
<title>${escape(chart.title)}</title>
${parts.join('\n')}
</svg>
`;
}

type Place = readonly [x: number, y: number];

const broken = `stroke="${text}" stroke-width="2" stroke-dasharray="6 5"`;

function placesOf({ x }: Chart, most: number): { x: (value: number) => number; y: (value: number) => number } {
  const along = (value: number): number => (x.isLogarithmic === true ? Math.log(value) : value);
  const first = along(x.ticks[0] ?? 0);
  const span = along(x.ticks.at(-1) ?? 1) - first || 1;
  const inner = { left: frame.left + 24, right: frame.right - 24 };
  return {
    x: (value) => inner.left + ((along(value) - first) / span) * (inner.right - inner.left),
    y: (value) => frame.bottom - (value / most) * (frame.bottom - frame.top),
  };
}

/** Returns ticks from 0 to at least the largest value, in steps of 1, 2, or 5 times a power of ten. */
function niceTicks(most: number): number[] {
  const power = 10 ** Math.floor(Math.log10(most / 4));
  const step = [1, 2, 5, 10].map((n) => n * power).find((size) => size * 5 >= most) ?? power;
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, n) => n * step);
}

function curve(at: readonly Place[], color: string): string {
  const points = at.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');
  const dots = at.map(([x, y]) => `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="3" fill="${color}"/>`);
  return `<polyline points="${points}" fill="none" stroke="${color}" stroke-width="2"/>${dots.join('')}`;
}

function legend(n: number, name: string, color: string, dashes = 'none'): string {
  const x = frame.left + n * 190;
  const stroke = `stroke="${color}" stroke-width="3" stroke-dasharray="${dashes}"`;
  return line([x, 46], [x + 24, 46], stroke) + label(x + 32, 50, name);
}

function line([x1, y1]: Place, [x2, y2]: Place, stroke: string): string {
  return `<line x1="${x1}" y1="${y1.toFixed(1)}" x2="${x2}" y2="${y2.toFixed(1)}" ${stroke}/>`;
}

function label(x: number, y: number, content: string, attributes = ''): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>${escape(content)}</text>`;
}

function escape(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
