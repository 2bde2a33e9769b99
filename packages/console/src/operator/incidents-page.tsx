import { useEffect } from 'preact/hooks';
import { Command, Page } from '../components/page.tsx';
import { incidentSections } from '../generated/incidents.ts';
import './operator.css';
import { anchorsOf } from './incidents.ts';
import { IncidentSteps, Prose } from './parts.tsx';

export function IncidentsPage() {
  useEffect(() => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    target.classList.add('target');
    target.scrollIntoView({ block: 'center' });
  }, []);
  return (
    <Page
      title="Incidents by symptom"
      sub="Start with inlet doctor. It checks every server and prints each problem with its remedy."
    >
      <div class="card">
        <Command text="inlet doctor" />
      </div>
      <nav aria-label="Sections" class="row small">
        {incidentSections.map(({ id, title }) => (
          <a key={id} href={`#${id}`}>
            {title}
          </a>
        ))}
      </nav>
      {incidentSections.map(({ id, title, incidents }) => (
        <section key={id} class="stack" aria-labelledby={id}>
          <h2 id={id} class="section-title">
            {title}
          </h2>
          {incidents.map((incident) => (
            <article key={incident.symptom} class="card stack incident">
              {anchorsOf(incident)
                .slice(1)
                .map((name) => (
                  <span key={name} id={name} class="visually-hidden" />
                ))}
              <h3 id={anchorsOf(incident)[0]}>
                <Prose text={incident.symptom} />
              </h3>
              <IncidentSteps incident={incident} />
            </article>
          ))}
        </section>
      ))}
    </Page>
  );
}
