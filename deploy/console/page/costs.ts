import type { ClusterRow } from '../view.ts';
import { byId, put, svg, text } from './dom.ts';
import { size } from './words.ts';

const days = 14;
const dayMs = 86_400_000;
const height = 90;

/** What downloads asked of their sources by day, as `ot-functions cost` counts it. */
export function drawCosts({ egress, pricePerGiB, budget }: ClusterRow): void {
  const all = Array.from({ length: days }, (_, index) => {
    const day = new Date(Date.now() - (days - 1 - index) * dayMs).toISOString().slice(0, 10);
    return { day, bytes: Object.values(egress[day] ?? {}).reduce((sum, bytes) => sum + bytes, 0) };
  });
  const most = Math.max(...all.map(({ bytes }) => bytes));
  const total = all.reduce((sum, { bytes }) => sum + bytes, 0);
  const price = (bytes: number) =>
    pricePerGiB === undefined ? '' : ` (${((bytes / 2 ** 30) * pricePerGiB).toFixed(2)})`;
  const today = all.at(-1)?.bytes ?? 0;
  text(
    'costs-words',
    total === 0
      ? `Nothing was asked of any source in ${days} days.`
      : `${size(total)}${price(total)} in ${days} days, ${size(today)}${price(today)} of it today.${pricePerGiB === undefined ? '' : ` A Gi costs ${pricePerGiB}.`}`,
  );
  text(
    'budget',
    budget
      ? `${size(budget.left)} of the budget of ${size(budget.bytes)} in ${budget.days === 1 ? 'a day' : `${budget.days} days`} ${budget.left > 0 ? 'are left' : 'is left: nothing starts'}.`
      : '',
  );
  const width = 100 / days;
  put(
    byId('costs'),
    svg(
      'svg',
      { class: 'costs', width: '100%', height: height + 18, 'aria-hidden': 'true' },
      ...all.flatMap(({ day, bytes }, index) => {
        const tall = most > 0 ? (bytes / most) * height : 0;
        return [
          svg(
            'rect',
            {
              ...{ x: `${(index * width + 0.6).toFixed(2)}%`, width: `${(width - 1.2).toFixed(2)}%` },
              ...{ y: (height - tall).toFixed(1), height: Math.max(1, tall).toFixed(1) },
            },
            svg('title', {}, `${day}: ${size(bytes)}${price(bytes)}`),
          ),
          ...(index % 3 === (days - 1) % 3
            ? [
                svg(
                  'text',
                  {
                    class: 'tick',
                    x: index === days - 1 ? '100%' : `${((index + 0.5) * width).toFixed(2)}%`,
                    y: height + 14,
                    'text-anchor': index === days - 1 ? 'end' : 'middle',
                  },
                  day.slice(5),
                ),
              ]
            : []),
        ];
      }),
    ),
  );
}
