/** Whether `Accept` likes CSV better than JSON; of two that it likes as well, the first. JSON for whoever names neither. */
export function wantsCsv(accept = ''): boolean {
  const liked = accept.split(',').map(toRange);
  const csv = liked.find(({ type }) => type === 'text/csv');
  const json = liked.find(({ type }) => type === 'application/json');
  if (!csv || csv.quality === 0) return false;
  if (!json) return true;
  return csv.quality === json.quality ? liked.indexOf(csv) < liked.indexOf(json) : csv.quality > json.quality;
}

function toRange(text: string): { readonly type: string; readonly quality: number } {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
  return { type, quality: /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 1 };
}
