// Importers of the ports also get the types that ports share with messages.
@_exported public import ParleyModel
