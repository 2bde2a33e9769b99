/** The path of a request, without its query; also of one that names the whole address, as to a proxy. */
export function pathOf({ url }: { readonly url: string }): string {
  return url.replace(/^https?:\/\/[^/]*/i, '').split('?')[0] ?? '/';
}
