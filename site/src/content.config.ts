import { docsLoader } from '@astrojs/starlight/loaders';
import { docsSchema } from '@astrojs/starlight/schema';
import { defineCollection } from 'astro:content';

/** The pages are written here from docs/ by scripts/site.ts. */
export const collections = { docs: defineCollection({ loader: docsLoader(), schema: docsSchema() }) };
