import type { Screen } from './screens.ts';
import { type Variant, variants } from './take-screenshots.ts';

export function imageName({ name }: Pick<Screen, 'name'>, variant: Pick<Variant, 'name'>): string {
  return `${name}-${variant.name}.webp`;
}

/** The page with images of every screen. */
export function contactSheet(screens: readonly Screen[]): string {
  const sections = screens.map((screen) => {
    const images = variants.map(
      (variant) => `![${screen.title}, ${variant.name}](images/console/${imageName(screen, variant)})`,
    );
    return `## ${screen.title}\n\n| Light | Dark | Narrow |\n| --- | --- | --- |\n| ${images.join(' | ')} |\n`;
  });
  return `# Console screens

<!-- Written by "npm run console:screens". Do not edit. -->

Every screen of the console in the light theme, in the dark theme, and on a phone. The data is real: the service loaded it,
and the screens for operators show an installation whose storage and one replica are unreachable.

${sections.join('\n')}`;
}
