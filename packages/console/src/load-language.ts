// Runs as a web worker. The first formatter of each kind makes the browser load the data for the reader's language,
// which the page can then use, too. On the page's own thread, this would take 15 to 30 ms, and 100 ms on a slow
// processor.

new Intl.NumberFormat().format(0);
new Intl.RelativeTimeFormat().format(0, 'day');
new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' }).format(0);
new Intl.DisplayNames(undefined, { type: 'region' }).of('US');
new Intl.Collator().compare('a', 'b');
close();
