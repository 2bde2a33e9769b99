// Runs as a worker. The first formatter of a kind makes the browser load the data of the reader's language, which it then
// shares with the page. On the page's own thread, this would take 15 to 30 ms, and 100 ms on a slow processor.

new Intl.NumberFormat().format(0);
new Intl.RelativeTimeFormat().format(0, 'day');
new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' }).format(0);
new Intl.DisplayNames(undefined, { type: 'region' }).of('US');
new Intl.Collator().compare('a', 'b');
close();
