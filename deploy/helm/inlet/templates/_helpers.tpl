{{- define "inlet.name" -}}
{{- if contains "inlet" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-inlet" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end -}}
{{- end }}

{{- define "inlet.selector" -}}
app.kubernetes.io/name: inlet
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "inlet.labels" -}}
{{ include "inlet.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "inlet.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "inlet.name" .) }}
{{- end }}

{{/*
The following helpers take a dictionary: "root" is the root context, "process" is the name of a process (api, worker, migrate, or
backup), and "values" contains the values of this process.
*/}}

{{- define "inlet.podMetadata" -}}
labels: {{- include "inlet.labels" .root | nindent 2 }}
  app.kubernetes.io/component: {{ .process }}
  {{- with .root.Values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .root.Values.podAnnotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The placement of a process replaces the placement of all processes. */}}
{{- define "inlet.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
# An unprivileged user. The group lets it write to volumes.
securityContext: { runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000, seccompProfile: { type: RuntimeDefault } }
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.priorityClassName | default .root.Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .values.nodeSelector | default .root.Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations | default .root.Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity | default .root.Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with include "inlet.volumes" . | trim }}
volumes: {{- . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Adds the label selector of the process to each constraint. */}}
{{- define "inlet.topologySpread" -}}
{{- $labels := merge (dict "app.kubernetes.io/component" .process) (include "inlet.selector" .root | fromYaml) }}
{{- range .values.topologySpreadConstraints | default .root.Values.topologySpreadConstraints }}
- {{ merge (dict "labelSelector" (dict "matchLabels" $labels)) . | toYaml | indent 2 | trim }}
{{- end }}
{{- end }}

{{- define "inlet.container" -}}
image: {{ .root.Values.image.repository }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
{{- include "inlet.containerSettings" . | nindent 0 }}
{{- end }}

{{- define "inlet.containerSettings" -}}
securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: [ALL] } }
resources: {{- toYaml .values.resources | nindent 2 }}
{{- with include "inlet.envFrom" . | trim }}
envFrom: {{- . | nindent 2 }}
{{- end }}
env: {{- include "inlet.env" . | trim | nindent 2 }}
{{- with include "inlet.volumeMounts" . | trim }}
volumeMounts: {{- . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "inlet.envFrom" -}}
{{- with .values.secretName | default .root.Values.secretName }}
- secretRef: { name: {{ . }} }
{{- end }}
{{- with .root.Values.extraEnvFrom }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Settings are part of the pod spec, because the migration job runs before any other resource of the chart exists. */}}
{{- define "inlet.env" -}}
- name: INLET_SHUTDOWN_GRACE_SECONDS
  value: {{ .root.Values.shutdownGraceSeconds | quote }}
{{- range $name, $value := .root.Values.settings }}
- name: {{ $name }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- range .values.secretFiles | default .root.Values.secretFiles }}
- name: {{ .setting | trimSuffix "_FILE" }}_FILE
  value: /run/secrets/inlet/{{ .setting }}
{{- end }}
{{- if .root.Values.certificatesSecretName }}
- name: NODE_EXTRA_CA_CERTS
  value: /certificates/ca.crt
{{- end }}
{{- if .values.tlsSecretName }}
- name: INLET_TLS_CERT_FILE
  value: /tls/tls.crt
- name: INLET_TLS_KEY_FILE
  value: /tls/tls.key
{{- end }}
{{- with .values.notifications }}
{{- if .enabled }}
- name: INLET_NOTIFICATIONS_HOST
  value: 0.0.0.0
- name: INLET_NOTIFICATIONS_PORT
  value: {{ .port | quote }}
{{- end }}
{{- end }}
{{- with .root.Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "inlet.volumeMounts" -}}
{{- if .values.secretFiles | default .root.Values.secretFiles }}
- { name: secret-files, mountPath: /run/secrets/inlet, readOnly: true }
{{- end }}
{{- if .root.Values.certificatesSecretName }}
- { name: certificates, mountPath: /certificates, readOnly: true }
{{- end }}
{{- if .values.tlsSecretName }}
- { name: tls, mountPath: /tls, readOnly: true }
{{- end }}
{{- if .values.volume }}
- { name: backups, mountPath: /backups }
{{- end }}
{{- with .root.Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Mounts single keys. If a key is missing, the pod does not start. Otherwise, Node would only log a missing certificate. */}}
{{- define "inlet.volumes" -}}
{{- with .values.secretFiles | default .root.Values.secretFiles }}
- name: secret-files
  projected:
    sources:
      {{- range . }}
      - secret: { name: {{ .secretName }}, items: [{ key: {{ .key }}, path: {{ .setting }} }] }
      {{- end }}
{{- end }}
{{- with .root.Values.certificatesSecretName }}
- name: certificates
  secret: { secretName: {{ . }}, items: [{ key: ca.crt, path: ca.crt }] }
{{- end }}
{{- with .values.tlsSecretName }}
- name: tls
  secret: { secretName: {{ . }} }
{{- end }}
{{- with .values.volume }}
- name: backups
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}
