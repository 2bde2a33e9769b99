import starlight from '@astrojs/starlight';
import { defineConfig, passthroughImageService } from 'astro/config';
import { sidebar } from './sidebar.ts';

// oxlint-disable-next-line import/no-default-export -- Astro asks for it
export default defineConfig({
  // Pictures are drawn by our own scripts as SVG: nothing has to be made smaller.
  image: { service: passthroughImageService() },
  integrations: [
    starlight({
      title: 'Inlet',
      description: 'Takes files of mobile advertising ids from object storage into a warehouse.',
      customCss: ['./src/inlet.css'],
      sidebar,
      // Commands are to be read whole, and need no picture of a window around them.
      expressiveCode: { defaultProps: { wrap: true, frame: 'none' } },
    }),
  ],
});
