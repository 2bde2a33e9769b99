import { useEffect, useState } from 'preact/hooks';

/** As many rows as the first screen of a small window shows. */
const firstRows = 8;
const rowsPerStep = 6;

/** How many of the rows to render now. The page stays responsive, because the browser paints between two steps. */
export function useGradually(rows: number): number {
  const [rendered, setRendered] = useState(firstRows);
  useEffect(() => {
    if (rendered >= rows) return undefined;
    const timer = setTimeout(() => setRendered(rendered + rowsPerStep));
    return () => clearTimeout(timer);
  }, [rendered, rows]);
  return Math.min(rendered, rows);
}
