import { useEffect, useState } from 'preact/hooks';

/** The number of rows that fit on the first screen of a small window. */
const firstRows = 8;
const rowsPerStep = 6;

/** How many of the rows to render now. The page stays responsive, because the browser paints between steps. */
export function useGradually(rows: number): number {
  const [rendered, setRendered] = useState(firstRows);
  useEffect(() => {
    if (rendered >= rows) return undefined;
    const timer = setTimeout(() => setRendered(rendered + rowsPerStep));
    return () => clearTimeout(timer);
  }, [rendered, rows]);
  return Math.min(rendered, rows);
}
