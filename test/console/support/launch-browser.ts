import { type Browser, chromium } from 'playwright-core';

/** The features that Playwright disables, plus the suggestions in the address bar. */
const disabledFeatures = [
  // Chromium uses only the last list that it gets, so this one repeats the relevant features from Playwright's list.
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
  // Chromium loads a web page for each of these in every new context, even without a window, which takes half of its
  // processor time.
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
];

/** Launches Debian's Chromium without any background requests. Playwright creates a fresh profile. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
    chromiumSandbox: false,
    args: [
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--disable-features=${disabledFeatures.join(',')}`,
    ],
  });
}
