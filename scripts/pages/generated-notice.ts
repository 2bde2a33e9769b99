export function generatedNotice(source: string): string {
  return `<!-- Generated from ${source} by "npm run generate". Do not edit. -->`;
}
