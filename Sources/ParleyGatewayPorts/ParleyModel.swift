// The types that the ports share with messages come with them.
@_exported public import ParleyModel
