/** Downloads a file that the page has made. */
export function saveFile(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The download starts after this task.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
