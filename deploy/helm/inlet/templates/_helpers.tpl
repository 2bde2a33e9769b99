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

{{- define "inlet.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "inlet.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "inlet.name" .) }}
{{- end }}

{{/* An unprivileged user with a read-only root filesystem. */}}
{{- define "inlet.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "inlet.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* Settings are part of the pod spec, because the migration job runs before any other resource of the chart exists. */}}
{{- define "inlet.settings" -}}
- name: INLET_SHUTDOWN_GRACE_SECONDS
  value: {{ .Values.shutdownGraceSeconds | quote }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- if .Values.certificatesSecretName }}
- name: NODE_EXTRA_CA_CERTS
  value: /certificates/ca.crt
{{- end }}
{{- end }}

{{- define "inlet.certificatesMount" -}}
- { name: certificates, mountPath: /certificates, readOnly: true }
{{- end }}

{{/* Mounts only the key ca.crt. If the key is missing, the pod does not start. Without this check, Node would only log a warning. */}}
{{- define "inlet.certificatesVolume" -}}
- name: certificates
  secret: { secretName: {{ .Values.certificatesSecretName }}, items: [{ key: ca.crt, path: ca.crt }] }
{{- end }}

{{- define "inlet.placement" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
