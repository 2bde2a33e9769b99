import starlight from '@astrojs/starlight';
import { defineConfig, passthroughImageService } from 'astro/config';
import { sidebar } from './sidebar.ts';

// oxlint-disable-next-line import/no-default-export -- Astro requires it
export default defineConfig({
  // The images have the right size already.
  image: { service: passthroughImageService() },
  integrations: [
    starlight({
      title: 'Inlet',
      description: 'Loads files of mobile advertising IDs from object storage into ClickHouse.',
      customCss: ['./src/inlet.css'],
      sidebar,
      // Search indexes a title only as a heading, so that the weight in PageTitle.astro applies.
      pagefind: { ranking: { metaWeights: { title: 0 } } },
      components: { PageTitle: './src/components/PageTitle.astro' },
      // Wraps long commands, so that readers see them completely. Shows no window frame.
      expressiveCode: { defaultProps: { wrap: true, frame: 'none' } },
    }),
  ],
});
